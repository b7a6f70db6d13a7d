# The official image of PostgreSQL with the extension, built from this checkout:
#
#   docker build -t postgres-ulid .
#
# PG_MAJOR is the server's major version. SYSTEM is what the image is based on, as the tags of the official images name it:
# trixie, bookworm or alpine.
ARG PG_MAJOR=18
ARG SYSTEM=trixie

FROM docker.io/library/rust:1.96-${SYSTEM} AS rust
RUN rustup component add rustfmt

# built in the server's own image, so that the headers are those of that server
FROM docker.io/library/postgres:${PG_MAJOR}-${SYSTEM} AS build
ARG PG_MAJOR
RUN if command -v apk > /dev/null; then \
      apk add --no-cache clang-dev gcc icu-dev make musl-dev; \
    else \
      apt-get update && apt-get install -y --no-install-recommends \
        ca-certificates gcc libc6-dev libclang-dev libicu-dev make "postgresql-server-dev-$PG_MAJOR"; \
    fi
COPY --from=rust /usr/local/rustup /usr/local/rustup
COPY --from=rust /usr/local/cargo /usr/local/cargo
ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo PATH=/usr/local/cargo/bin:$PATH
WORKDIR /ulid
COPY . .
RUN make install DESTDIR=/installed PG_CONFIG="$(command -v pg_config)"

FROM docker.io/library/postgres:${PG_MAJOR}-${SYSTEM}
COPY --from=build /installed /
