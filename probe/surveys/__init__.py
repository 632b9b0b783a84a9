"""What a class is asked behind a link: an owner, those who hold the link, their answers, an end."""
