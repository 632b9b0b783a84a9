"""What torch's libraries read from the environment as they are loaded; ours alike everywhere."""

NATIVE_ENVIRONMENT = {
    "OMP_WAIT_POLICY": "PASSIVE",  # waiting threads would take the core from what runs beside them
    # oneDNN compiles a product of bf16 for each size, and batches have many: 1,024 of them, as many
    # as it keeps by itself, take 300 MB and more. Those of one batch or training step are kept, and
    # keeping no more costs no time that can be measured
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "32",
    "LRU_CACHE_CAPACITY": "32",
}
