#!/bin/sh
# Keeps values in a file beside it, one a line: service|kind|enabled|server|port.
state="${0%/*}/networksetup.state"
service="$2"
field() { grep -F "$service|$1|" "$state" | head -n 1 | cut -d'|' -f"$2"; }
put() {
  grep -vF "$service|$1|" "$state" > "$state.$$"
  echo "$service|$1|$2|$3|$4" >> "$state.$$"
  LC_ALL=C sort -o "$state.$$" "$state.$$"
  mv "$state.$$" "$state"
}
show() {
  printf 'Enabled: %s\nServer: %s\nPort: %s\nAuthenticated Proxy Enabled: 0\n' "$(field "$1" 3)" "$(field "$1" 4)" "$(field "$1" 5)"
}
switch() {
  case "$2" in on) on=Yes ;; off) on=No ;; *) exit 4 ;; esac
  put "$1" "$on" "$(field "$1" 4)" "$(field "$1" 5)"
}
case "$1" in
  -listallnetworkservices)
    echo "An asterisk (*) denotes that a network service is disabled."
    cut -d'|' -f1 "$state" | LC_ALL=C sort -u
    echo "*Thunderbolt Bridge"
    ;;
  -getwebproxy) show web ;;
  -getsecurewebproxy) show secureweb ;;
  -setwebproxy) put web Yes "$3" "$4" ;;
  -setsecurewebproxy) put secureweb Yes "$3" "$4" ;;
  -setwebproxystate) switch web "$3" ;;
  -setsecurewebproxystate) switch secureweb "$3" ;;
  -getautoproxyurl) printf 'URL: %s\nEnabled: %s\n' "$(field automatic 4)" "$(field automatic 3)" ;;
  -setautoproxystate) switch automatic "$3" ;;
  -getproxybypassdomains)
    domains="$(field bypass 4)"
    if [ -z "$domains" ]; then
      echo "There aren't any bypass domains set on $service."
    else
      echo "$domains" | tr ',' '\n'
    fi
    ;;
  -setproxybypassdomains)
    shift 2
    if [ "$1" = Empty ]; then put bypass "" "" ""; else put bypass "" "$(IFS=,; echo "$*")" ""; fi
    ;;
  *) exit 4 ;;
esac
