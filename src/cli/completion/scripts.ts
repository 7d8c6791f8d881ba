/**
 * The scripts that a shell loads. They ask `gateway complete`, which prints a candidate a line, with a tab and its summary where it has
 * one; so they know every command of the gateway that is installed, and need no new script after an update.
 */

export type Shell = "bash" | "zsh" | "fish"

/** bash takes a word apart at colons and equals signs; the part before them must not be repeated. */
const bash = `# bash completion for gateway: eval "$(gateway completion bash)"
_gateway() {
  local line=\${COMP_LINE:0:COMP_POINT} word prefix candidate
  local -a words
  IFS=$' \\t' read -r -a words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word=\${words[\${#words[@]}-1]}
  prefix=
  [[ $word == *[:=]* ]] && prefix=\${word%"\${word##*[:=]}"}
  COMPREPLY=()
  while IFS=$'\\t' read -r candidate _; do
    if [[ $candidate == :files ]]; then
      compopt -o default 2>/dev/null
    else
      printf -v candidate %q "\${candidate#"$prefix"}"
      COMPREPLY+=("$candidate")
    fi
  done < <("\${words[0]}" complete -- "\${words[@]:1}" 2>/dev/null </dev/null)
}
complete -F _gateway gateway`

const zsh = `#compdef gateway
# zsh completion for gateway: source <(gateway completion zsh)
_gateway() {
  local -a candidates
  local value summary
  while IFS=$'\\t' read -r value summary; do
    if [[ $value == ':files' ]]; then
      _files
      return
    fi
    candidates+=("\${value//:/\\\\:}\${summary:+:$summary}")
  done < <("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null </dev/null)
  _describe 'gateway' candidates
}
if [[ $funcstack[1] == _gateway ]]; then
  _gateway "$@"
else
  compdef _gateway gateway
fi`

const fish = `# fish completion for gateway: gateway completion fish | source
function __gateway_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (command $words[1] complete -- $words[2..-1] 2>/dev/null </dev/null)
    if test "$line" = ':files'
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c gateway -f -a '(__gateway_complete)'`

export const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }
