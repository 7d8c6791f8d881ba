#!/bin/sh
# The registry's values of one key, one a line: name|type|data.
state="${0%/*}/reg.state"
case "$1" in
  query)
    printf '\r\nHKEY_CURRENT_USER\\%s\r\n' "${2#HKCU\\}"
    while IFS='|' read -r name type data; do
      if [ "$type" = REG_DWORD ]; then data="$(printf '0x%x' "$data")"; fi
      printf '    %s    %s    %s\r\n' "$name" "$type" "$data"
    done < "$state"
    ;;
  add)
    grep -vF "$4|" "$state" > "$state.$$"
    data="$8"
    if [ "$6" = REG_DWORD ]; then data="$(printf '%d' "$data")"; fi
    echo "$4|$6|$data" >> "$state.$$"
    LC_ALL=C sort -o "$state.$$" "$state.$$"
    mv "$state.$$" "$state"
    ;;
  delete)
    grep -qF "$4|" "$state" || exit 1
    grep -vF "$4|" "$state" > "$state.$$"
    mv "$state.$$" "$state"
    ;;
  *) exit 1 ;;
esac
