#!/bin/sh
# kreadconfig6 and kwriteconfig6: --file <file> --group <group> --key <key>, then --default <text>, --delete "" or a value. One a line: key=value.
state="${0%/*}/kioslaverc.state"
key="$6"
case "${0##*/}" in
  kread*)
    line="$(grep -F "$key=" "$state" | head -n 1)"
    if [ -z "$line" ]; then echo "$8"; else echo "${line#"$key="}"; fi
    ;;
  *)
    grep -vF "$key=" "$state" > "$state.$$"
    if [ "$7" != --delete ]; then echo "$key=$7" >> "$state.$$"; fi
    LC_ALL=C sort -o "$state.$$" "$state.$$"
    mv "$state.$$" "$state"
    ;;
esac
