/** Measures of an answer, for the playground and the command line. Pure. */

export interface Metrics {
  /** Milliseconds until the first token, thoughts included; null when none came. */
  readonly ttftMs: number | null
  /** Tokens per second of the answer, once it had begun; 0 without one. */
  readonly tokensPerSecond: number
  readonly tokensIn: number
  readonly tokensOut: number
  /** Cost by list prices; 0 where no price is known. */
  readonly costUsd: number
  /** Times are the gateway's own, and what a provider bills may differ. */
  readonly isEstimate: true
}

export interface Measured {
  /** Start on the same clock as the other times, in milliseconds. */
  readonly startedMs: number
  /** Null: no token came. */
  readonly firstTokenMs: number | null
  readonly endedMs: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly costUsd: number
}

/** An answer that comes at once has no speed of its own: its tokens are taken over the whole time. */
const atOnceMs = 20

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))

const rateOf = ({ endedMs, firstTokenMs, startedMs, tokensOut }: Measured): number => {
  if (firstTokenMs === null || tokensOut <= 0) return 0
  const streamedMs = endedMs - firstTokenMs
  const tookMs = streamedMs >= atOnceMs ? streamedMs : endedMs - startedMs
  return tookMs <= 0 ? 0 : rounded((tokensOut * 1_000) / tookMs, 2)
}

export const metricsOf = (measured: Measured): Metrics => ({
  ttftMs: measured.firstTokenMs === null ? null : Math.max(0, Math.round(measured.firstTokenMs - measured.startedMs)),
  tokensPerSecond: rateOf(measured),
  tokensIn: measured.tokensIn,
  tokensOut: measured.tokensOut,
  costUsd: measured.costUsd,
  isEstimate: true
})

/** Four characters of English are about a token. */
const charsPerToken = 4

/** Measures an answer that still comes: its tokens are guessed from its length. */
export const metricsSoFar = (measured: Omit<Measured, "tokensIn" | "tokensOut" | "costUsd">, chars: number): Metrics =>
  metricsOf({ ...measured, tokensIn: 0, tokensOut: Math.ceil(chars / charsPerToken), costUsd: 0 })

const numbers = new Intl.NumberFormat("en-US")

/** One line for people. Costs begin with `~`: they are estimates. */
export const metricsText = ({ costUsd, tokensIn, tokensOut, tokensPerSecond, ttftMs }: Metrics): string =>
  [
    ttftMs === null ? "no token" : `first token ${numbers.format(ttftMs)} ms`,
    `${numbers.format(Math.round(tokensPerSecond * 10) / 10)} tokens/s`,
    `${numbers.format(tokensIn)} in`,
    `${numbers.format(tokensOut)} out`,
    `~$${costUsd.toFixed(6)}`
  ].join(" · ")
