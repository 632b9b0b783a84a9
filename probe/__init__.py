"""Looking at models: pairs, transforms, attribution, metrics and batch scoring."""
