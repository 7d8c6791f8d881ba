/** The command whose output a text is, out of the line that a tool was called with. Pure. */

/** Most characters of a command line that are read. */
const readChars = 4_000

/** Programs that run another one, with the options they have before it. */
const wrappers = new Set([
  "sudo",
  "time",
  "nice",
  "nohup",
  "env",
  "command",
  "exec",
  "stdbuf",
  "timeout",
  "xvfb-run",
  "npx",
  "bunx",
  "uvx"
])
/** Programs without an output of their own. */
const silent = new Set([
  "cd",
  "export",
  "set",
  "source",
  ".",
  "mkdir",
  "rm",
  "cp",
  "mv",
  "touch",
  "chmod",
  "sleep",
  "true",
  "unset",
  "pushd",
  "popd",
  "trap",
  "umask",
  "ulimit",
  "wait"
])
/** Programs that hand on a part of what they read from a pipe. */
const passing = new Set(["head", "tail", "tee", "cat", "less", "more"])
/** Options of wrappers that take a value of their own. */
const valued = /^(?:-n|-u|-k|-s|-p|--package|--signal)$/

/** The commands of a line, those of one pipe together; quotes are looked into for nothing. */
const pipesOf = (line: string): ReadonlyArray<ReadonlyArray<string>> => {
  const pipes: Array<Array<string>> = []
  let pipe: Array<string> = []
  let from = 0
  let quote = ""
  const take = (to: number): void => {
    const command = line.slice(from, to).trim()
    if (command !== "") pipe.push(command)
  }
  const end = (to: number): void => {
    take(to)
    if (pipe.length > 0) pipes.push(pipe)
    pipe = []
  }
  for (let at = 0; at < line.length; at += 1) {
    const sign = line.charAt(at)
    if (sign === "\\" && quote !== "'") at += 1
    else if (quote !== "") quote = sign === quote ? "" : quote
    else if (sign === "'" || sign === '"') quote = sign
    else if (sign === ";" || sign === "\n") {
      end(at)
      from = at + 1
    } else if ((sign === "&" || sign === "|") && line.charAt(at + 1) === sign) {
      end(at)
      from = at + 2
      at += 1
    } else if (sign === "|") {
      take(at)
      from = at + 1
    }
  }
  end(line.length)
  return pipes
}

const nameOf = (word: string): string => word.slice(word.lastIndexOf("/") + 1)

/** Reduces a command to its words without environment, wrappers, folder of the program and redirections. */
const bare = (command: string): string => {
  const words = command.replace(/^[({\s]+/, "").split(/\s+/)
  let at = 0
  let isWrapped = false
  while (at < words.length) {
    const word = words[at] ?? ""
    if (/^[A-Za-z_][A-Za-z0-9_]*=/.test(word)) at += 1
    else if (wrappers.has(nameOf(word)) && at + 1 < words.length) {
      isWrapped = true
      at += 1
    } else if (isWrapped && valued.test(word)) at += 2
    else if (isWrapped && (word.startsWith("-") || /^\d+(?:\.\d+)?[smh]?$/.test(word))) at += 1
    else break
  }
  const [program = "", ...others] = words.slice(at)
  const kept = others.filter((word) => !/^\d*(?:>>?|<)|^&>/.test(word))
  return [nameOf(program), ...kept].join(" ").trim()
}

const programOf = (command: string): string => command.split(" ", 1)[0] ?? ""

const written = (pipe: ReadonlyArray<string>): string => {
  const commands = pipe.map(bare)
  const own = commands.filter((command, index) => index === 0 || !passing.has(programOf(command)))
  return own.at(-1) ?? ""
}

/**
 * Hot: finds the command of a tool's output. Null when several commands wrote it, or none is known: `cd a && npm test 2>&1 | tail -50` is
 * `npm test`, `npm test; git status` is null.
 */
export const commandOf = (line: string): string | null => {
  const heredoc = line.indexOf("<<")
  const read = line.slice(0, heredoc < 0 ? readChars : Math.min(heredoc, readChars))
  const commands = pipesOf(read)
    .map(written)
    .filter((command) => command !== "" && !silent.has(programOf(command)))
  return commands.length === 1 ? (commands[0] ?? null) : null
}
