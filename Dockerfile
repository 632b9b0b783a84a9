# docker build -t nli-clinic --build-arg TORCH_INDEX=<index of PyTorch's CPU wheels> .
# docker run -p 7860:7860 -v nli-clinic:/home/user/data --read-only --tmpfs /tmp nli-clinic
#
# What lasts is written below /home/user/data, what does not below /tmp: the root may be read only.
# compose.yaml adds PostgreSQL and workers.
#
# Without TORCH_INDEX torch comes from pip's own index, which on Linux means the build with CUDA:
# it works as well, but the image is some gigabytes larger.
FROM python:3.12-slim

RUN useradd --create-home --uid 1000 user \
    && install -d -o user -g user /home/user/app /home/user/data /home/user/certificates
WORKDIR /home/user/app

# What changes least comes first, so that a change of the code rebuilds only the last layers.
COPY packages.txt ./
RUN apt-get update \
    && apt-get install -y --no-install-recommends $(cat packages.txt) \
    && rm -rf /var/lib/apt/lists/*

ARG TORCH_INDEX=""
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
COPY requirements.txt constraints.txt ./
RUN if [ -n "$TORCH_INDEX" ]; then \
        pip install --no-deps --index-url "$TORCH_INDEX" -c constraints.txt torch; \
    fi \
    && pip install -r requirements.txt "psycopg[binary]" -c constraints.txt

COPY LICENSE README.md ./
COPY assets ./assets
COPY probe ./probe
COPY finetune ./finetune
COPY app.py ./

USER 1000
ENV HOME=/home/user \
    NLI_CLINIC_HOME=/home/user/data \
    HF_HOME=/home/user/data/huggingface \
    GRADIO_TEMP_DIR=/home/user/data/gradio \
    XDG_CACHE_HOME=/tmp/cache \
    MPLCONFIGDIR=/tmp/matplotlib \
    DASK_TEMPORARY_DIRECTORY=/tmp \
    PYTHONPYCACHEPREFIX=/tmp/pycache \
    GRADIO_SERVER_NAME=0.0.0.0 \
    GRADIO_SERVER_PORT=7860 \
    PYTHONUNBUFFERED=1
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:7860', timeout=5)"]
CMD ["python", "app.py"]
