#!/usr/bin/env bash
# Tries the gateways against what others published: the emulators telegram-test-api and emulate (for
# Slack) through `avocet gateway run`, killed and started again in the middle; and the official
# clients discord.js and @slack/socket-mode against the servers of our own tests, so that those are
# like the real ones. Everything listens on loopback. Run by hand: it installs packages from npm.
#
#   tests/real/gateways.sh [FOLDER]        AVOCET=target/release/avocet
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-${TMPDIR:-/tmp}/avocet-gateways}
avocet=${AVOCET:-$here/../../target/release/avocet}
telegram=${TELEGRAM_PORT:-18611} slack=${SLACK_PORT:-18612} socket=${SOCKET_PORT:-18613}
model=${MODEL_PORT:-18614}
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build --release" >&2; exit 2; }

mkdir -p "$folder"
[ -d "$folder/node_modules/discord.js" ] ||
    npm install --silent --no-audit --no-fund --prefix "$folder" telegram-test-api@4.2.1 \
        emulate@0.9.0 ws@8 discord.js@14 @slack/socket-mode@2 @slack/web-api@7
export REAL=$folder

servers=()
stop() { for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done; }
trap stop EXIT

# Waits until something listens on a port.
await() {
    for _ in $(seq 100); do
        (exec 3<> "/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
        sleep 0.1
    done
    echo "nothing listens on $1; see $folder/*.log" >&2
    exit 1
}

serve() { # NAME PORT COMMAND…
    local name=$1 port=$2
    shift 2
    node -r "$here/loopback.cjs" "$@" > "$folder/$name.log" 2>&1 & servers+=($!)
    await "$port"
}
serve model "$model" "$here/model_server.cjs" "$model"
serve telegram "$telegram" "$here/telegram_server.cjs" "$telegram"
serve slack "$slack" "$folder/node_modules/.bin/emulate" start --service slack --port "$slack"
serve socket "$socket" "$here/slack_socket.cjs" "$socket" "http://127.0.0.1:$slack"

# A home and a project of their own, and one service.
try() { # SERVICE ADDRESS API USER
    local service=$1 address=$2 api=$3 user=$4 home=$folder/$1-home gateway
    rm -rf "$home"
    mkdir -p "$home/avocet" "$home/project"
    cat > "$home/avocet/config.toml" <<END
[gateway.$service]
enabled = true
api_url = "$api"
allow = ["$user"]
END
    start() {
        (cd "$home/project" && exec env -i PATH="$PATH" HOME="$home" AVOCET_HOME="$home/avocet" \
            LANG=en_US.UTF-8 TELEGRAM_BOT_TOKEN=1:real-secret SLACK_BOT_TOKEN=test_token_admin \
            SLACK_APP_TOKEN=xapp-real-secret "$avocet" --base-url "http://127.0.0.1:$model/v1" \
            --model mock gateway run --only "$service") \
            >> "$folder/$service-gateway.log" 2>&1 &
        gateway=$! servers+=($!)
    }
    : > "$folder/$service-gateway.log"
    start
    node "$here/chat_user.cjs" "$service" "$address" "$home/project" first || return 1
    kill -9 "$gateway"
    wait "$gateway" 2> /dev/null || true
    start
    node "$here/chat_user.cjs" "$service" "$address" "$home/project" second || return 1
    kill "$gateway"
    wait "$gateway" || { echo "$service: ended with $?"; return 1; }
    ! grep -rqs 'real-secret' "$folder/$service-gateway.log" "$home/avocet" ||
        { echo "$service: a token was written down"; return 1; }
}

failed=0
try telegram "http://127.0.0.1:$telegram" "http://127.0.0.1:$telegram" 1 || failed=1
try slack "http://127.0.0.1:$socket" "http://127.0.0.1:$socket/api" U0HUMAN || failed=1

cd "$here/../.."
AVOCET_PUBLISHED_CLIENTS=$folder cargo test --quiet --test gateway -- --ignored published_client || failed=1
exit "$failed"
