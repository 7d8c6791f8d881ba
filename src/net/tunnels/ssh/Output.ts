/** Output of OpenSSH's client with `-v` about a remote forward: https://github.com/openssh/openssh-portable/blob/V_9_2_P1/ssh.c */
import { shownWords } from "../ProgramOutput.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

export interface SshOutput {
  /** The port of the server that is forwarded; null before. */
  readonly remotePort: number | null
  readonly end: "refusedKey" | "wrongHostKey" | "refusedForward" | null
  /** The last line that is not of the debugging kind. */
  readonly lastWords: string
}

export const nothingYet: SshOutput = { remotePort: null, end: null, lastWords: "" }

const allocated = /^Allocated port (\d{1,5}) for remote forward to /
const forwarded = /^debug1: remote forward success for: listen \S*?:?(\d{1,5}), connect /

const portIn = (line: string): number | null => {
  const port = Number((allocated.exec(line) ?? forwarded.exec(line))?.[1] ?? 0)
  return port >= 1 && port <= 65_535 ? port : null
}

const endIn = (line: string): SshOutput["end"] => {
  if (/: Permission denied \(/.test(line) || line.includes("Too many authentication failures")) return "refusedKey"
  if (line.startsWith("Host key verification failed") || /^@?\s*WARNING: REMOTE HOST IDENTIFICATION/.test(line)) {
    return "wrongHostKey"
  }
  if (/remote port forwarding failed for listen port/.test(line)) return "refusedForward"
  return null
}

/** Linear in the line, which is bounded. */
export const readLine = (before: SshOutput, line: string): SshOutput => {
  const isDebugging =
    /^(debug\d|OpenSSH_|Authenticated to |Transferred: |Bytes per second: )/.test(line) || line.trim() === ""
  return {
    remotePort: before.remotePort ?? portIn(line),
    end: before.end ?? (isDebugging ? null : endIn(line)),
    lastWords: isDebugging ? before.lastWords : line
  }
}

/** Describes why the program has ended, as a sentence. */
export const reasonOfEnd = (output: SshOutput, problem: string): string => {
  const said = shownWords(output.lastWords)
  return `ssh ${problem}${asSentence(said === "" ? "" : `: ${said}`)}`
}
