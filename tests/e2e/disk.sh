#!/bin/sh
# A disk that is full, or that fails: the hub goes on serving, says that it
# could not save, and saves again when it can; at the end of the run it tries
# for 30 s. What was saved before is still there. And what verify and export say
# of all that.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

library=$(realpath "$bin/tests/preload/faults.so")
disk=$here/disk

# Whoever may not mount a disk tests the rest.
mkdir "$disk"
mounted=
! mount -t tmpfs -o size=2m none "$disk" 2>/dev/null || mounted=1
clean_up() { [ ! "$mounted" ] || umount -l "$disk"; }

run() { # NAME DIRECTORY OPTION...
    local name=$1 directory=$2
    shift 2
    start "$name" $program --listen "127.0.0.1:$port" --directory "$directory" \
        --policy async --every 5 --delay 2 --save 200ms "$@"
}
program=$bin/starswitch-hub

# how_often NAME EVENT: how often the hub has said so.
how_often() { cat "$here/$1.out" "$here/$1.err" | grep -c " $2" || true; }
more() { [ "$(how_often "$1" "$2")" -gt "$3" ]; }
saves_again() { # NAME
    until_ 20 "$1 saves" more "$1" centre_saved "$(how_often "$1" centre_saved)"
}
fails_again() { # NAME
    until_ 20 "$1 says that it cannot save" more "$1" save_failed \
        "$(how_often "$1" save_failed)"
}

fill() { dd if=/dev/zero bs=4k >>"$disk/filler" 2>/dev/null || true; }
# Again and again: a save that removes the one before last makes room for one.
is_full() { # NAME TIMES
    fill
    more "$1" save_failed "$2"
}

has_lines() { [ "$(wc -l <"$disk/course")" -ge "$1" ]; } # NUMBER

# hub_says CODE TEXT WORD...: what a command of the hub's ends with and says.
hub_says() {
    local code=0 expected=$1 text=$2
    shift 2
    "$bin/starswitch-hub" "$@" >"$here/said.out" 2>"$here/said.err" || code=$?
    [ $code = "$expected" ] || failed "$*: $code instead of $expected"
    said said "$text" || failed "$*: not a word of $text"
}

# ---- full ----

node n1
if [ "$mounted" ]; then
    run full "$disk/run"
    saves_again full
    saves_again full
    until_ 20 "full says that it cannot save" is_full full 0
    said full "No space left on device" || failed "it does not say why"
    said full "serving goes on" || failed "it does not say that it goes on"
    goes_on 20 n1
    goes_on 20 n1
    goes_on 20 n1
    [ "$(how_often full save_failed)" = 1 ] || failed "it says it each time"
    hub_says 0 "current: generation-" verify "$disk/run"
    ! ls -d "$disk/run/"*.tmp >/dev/null 2>&1 || failed "something is left"
    # Killed and started again while it is full: it serves.
    send KILL full
    ends full 137
    rm -rf "$disk/run/"*.tmp
    fill
    run full "$disk/run"
    until_ 20 "it goes on" said full "going on with run"
    until_ 20 "it says what it needs" told full disk_short
    said full "$disk/run has 0 B left, and saving this model may take" ||
        failed "it does not say what it needs"
    fails_again full
    goes_on 20 n1
    rm "$disk/filler"
    saves_again full
    said full "saving works again, after" || failed "it does not say it is over"
    [ "$(how_often full "centre_saved: .* works again")" = 1 ] ||
        failed "it says again that it works again"
    never_paused n1
    echo "    a full disk: $(how_often full save_failed) saves failed, then" \
        "$(how_often full centre_saved) are well"
    send KILL full
    ends full 137

    # Curves go on where there is room again; no line nor record is cut.
    port=$((port + 2))
    run curves "$here/curves.run" --course "$disk/course" \
        --tensorboard "$disk/board" --evaluate 100ms
    node c1
    until_ 20 "curves are written" has_lines 4
    fill
    until_ 30 "it says that it cannot write" told curves file_failed
    rm "$disk/filler"
    lines=$(wc -l <"$disk/course")
    until_ 40 "curves go on" has_lines $((lines + 3))
    send TERM curves
    ends curves 0 30
    ! tail -n +2 "$disk/course" | grep -v '}$' || failed "a line is cut"
    python3 tests/e2e/tensorboard.py "$disk/board" loss/centre >/dev/null ||
        failed "TensorBoard's file is cut"
    send TERM c1
    ends c1 0 30
    rm -r "$disk/course" "$disk/board"
    port=$((port - 2))

    # What a crash has left half made may be what fills it.
    mkdir "$disk/run/generation-99.tmp"
    dd if=/dev/zero of="$disk/run/generation-99.tmp/state" bs=4k \
        2>/dev/null || true
    run full "$disk/run"
    saves_again full
    send KILL full
    ends full 137

    # Full at the end: what follows is tested while it tries to save.
    first=$port
    while port=$((port + 2)) && is_taken $port || is_taken $((port + 1)); do
        :
    done
    run last "$disk/run" --report "$disk/report.html"
    node n2
    saves_again last
    until_ 20 "last says that it cannot save" is_full last 0
    send TERM last
    port=$first
fi

# ---- a call fails, at one place after the other ----

# The first start writes its life and its seal, too, and without them it serves.
# Errors are 5, EIO; 28, ENOSPC; 30, EROFS. With fsync the library kills who
# tries the same file again.
for fault in fsync:11:5 fsync:4:5 fsync:5:5 fsync:6:5 fsync:7:5 fsync:8:5 \
    fsync:9:5 fsync:10:5 fallocate:4:28 mkdir:7:30 rename:2:5 rename:3:30 \
    rename:4:5 symlink:1:28 symlink:2:28; do
    program="env LD_PRELOAD=$library STAR_FAULT=$fault $bin/starswitch-hub"
    rm -f "$here/bad.out" "$here/bad.err"
    run bad "$here/bad.run"
    until_ 20 "$fault fails" more bad save_failed 0
    saves_again bad
    hub_says 0 "current: generation-" verify "$here/bad.run"
    send KILL bad
    ends bad 137
done
echo "    a call that fails: what it was for is made anew"

# ---- verify and export ----

good=$here/bad.run
hub_says 0 "centre.safetensors of generation-" export "$good" "$here/m.st"
cmp "$here/m.st" "$good/current/centre.safetensors" ||
    failed "the copy is another one"
hub_says 0 "best-" export "$good" "$here/best.st" --best
cmp "$here/best.st" "$good/best.safetensors" || failed "the best is another one"
tensors "$here/best.st" >"$here/tensors"
hub_says 74 "No such file" export "$good" "$here/none/m.st"
hub_says 64 "name the directory" verify
hub_says 64 "no options" verify "$good" --every 3
hub_says 69 "holds no run: name the --directory of a hub" verify "$here"
hub_says 69 "holds no run: name the --dir" export "$here" "$here/m.st"

# One bit of the newest centre; a byte more of the state before it.
newest=$(readlink "$good/current")
python3 - "$good/$newest/centre.safetensors" <<'END'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(-9, 2)
    byte = file.read(1)[0]
    file.seek(-9, 2)
    file.write(bytes([byte ^ 4]))
END
hub_says 74 "centre.safetensors: damaged: centre.safetensors: its bytes 0 to" \
    verify "$good"
sed 's/^/    /' "$here/said.err"
hub_says 0 "$newest is damaged" export "$good" "$here/m.st"
program=$bin/starswitch-hub
run damaged "$good"
goes_on 20 n1
until_ 20 "it goes back" said damaged "the run goes back from version"
until_ 20 "and goes on" said damaged "going on with run"
sed -n '1,2s/^/    /p' "$here/damaged.err"
saves_again damaged
hub_says 0 "current: generation-" verify "$good"
send KILL damaged
ends damaged 137
for each in "$good"/generation-*; do
    echo >>"$each/state"
done
hub_says 74 "2 of 2 generations" verify "$good"
hub_says 0 "centre.safetensors of" export "$good" "$here/m.st"
run worse "$good"
ends worse 74
said worse "begin in another --directory" || failed "nothing says what to do"
sed -n '$s/^/    /p' "$here/worse.err"

if [ "$mounted" ]; then
    ends last 74 60
    said last "could not be saved: $disk/run holds version " ||
        failed "it does not say what it holds"
    said last "; tried again for up to 30 s" || failed "it does not try again"
    until_ 20 "n2 trains on" at_least n2 iteration \
        $(($(count n2 iteration) + 50))
    sed -n '$s/^/    /p' "$here/last.err"
fi
