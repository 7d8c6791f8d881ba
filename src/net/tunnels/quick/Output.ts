/**
 * Output of `cloudflared` about a quick tunnel, on standard error:
 * https://github.com/cloudflare/cloudflared/blob/2026.7.2/cmd/cloudflared/tunnel/quick_tunnel.go
 */
import { shownWords } from "../ProgramOutput.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

export interface QuickOutput {
  /** `https://….trycloudflare.com`; null before it is printed. */
  readonly address: string | null
  /** Number of connections to the edge that were registered. */
  readonly connections: number
  /** The last line of level error, as a part of a sentence; null when there was none. */
  readonly lastError: string | null
  readonly isRateLimited: boolean
}

export const nothingYet: QuickOutput = { address: null, connections: 0, lastError: null, isRateLimited: false }

const levels = /^\S{1,40} (INF|WRN|ERR|FTL|DBG) (.*)$/
/** A name of one label; `api` is the address that tunnels are asked for at. The end must be printed too. */
const addresses = /https:\/\/([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)\.trycloudflare\.com(?=[\s|/]|$)/g
const rateLimits = /error code: 1015|429 Too Many Requests|status_code="?429/

const addressIn = (line: string): string | null => {
  for (const [address, name] of line.matchAll(addresses)) if (name !== "api") return address
  return null
}

/** Linear in the line, which is bounded. */
export const readLine = (before: QuickOutput, line: string): QuickOutput => {
  const [, level, text = line] = levels.exec(line) ?? []
  const isError = level === "ERR" || level === "FTL"
  return {
    address: before.address ?? (isError ? null : addressIn(text)),
    connections: before.connections + (text.startsWith("Registered tunnel connection") ? 1 : 0),
    lastError: isError ? shownWords(text) : before.lastError,
    isRateLimited: before.isRateLimited || rateLimits.test(line)
  }
}

const rateLimited =
  "Cloudflare gives no more quick tunnels to this address for now (rate limited). Wait some minutes, or use another tunnel."

/** Describes why there is no tunnel after `cloudflared` has ended. */
export const reasonOfEnd = (output: QuickOutput, problem: string, lastWords: string): string => {
  if (output.isRateLimited && output.address === null) return rateLimited
  const [, , text = lastWords] = levels.exec(lastWords) ?? []
  const said = output.lastError ?? shownWords(text)
  return `cloudflared ${problem}${asSentence(said === "" ? "" : `: ${said}`)}`
}

/** Describes why there is no tunnel after the time for it has passed. */
export const reasonOfSilence = (output: QuickOutput, afterMs: number): string => {
  if (output.isRateLimited) return rateLimited
  const missing = output.address === null ? "printed no address" : "did not connect to Cloudflare"
  const said = output.lastError === null ? "" : ` Its last error: ${output.lastError}.`
  return `cloudflared ${missing} within ${afterMs / 1_000} seconds.${said}`
}
