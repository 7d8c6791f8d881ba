#!/bin/sh
# Keeps values in a file beside it, one a line: schema, key, value.
state="${0%/*}/gsettings.state"
case "$1" in
  get)
    line="$(grep -F "$2 $3 " "$state" | head -n 1)"
    if [ -z "$line" ]; then echo "No such key “$3”" >&2; exit 1; fi
    echo "${line#"$2 $3 "}"
    ;;
  set)
    if [ -e "${0%/*}/gsettings.deaf" ]; then exit 0; fi
    if [ -e "${0%/*}/gsettings.alone" ]; then
      echo '(process:7): dconf-WARNING **: failed to commit changes to dconf: Cannot autolaunch D-Bus without X11 $DISPLAY' >&2
      exit 0
    fi
    grep -vF "$2 $3 " "$state" > "$state.$$"
    echo "$2 $3 $4" >> "$state.$$"
    LC_ALL=C sort -o "$state.$$" "$state.$$"
    mv "$state.$$" "$state"
    ;;
  *) exit 1 ;;
esac
