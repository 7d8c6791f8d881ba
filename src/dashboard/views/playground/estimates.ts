/** Works out figures of an answer from what is known of it. Pure. */
import type { ApiError } from "../../api/ApiError.ts"
import type { Outcome } from "./outcome.ts"

export interface ToolCall {
  readonly name: string
  readonly input: string
}

export interface Run {
  readonly state: "idle" | "waiting" | "running" | "ended" | "cut" | "stopped" | "failed"
  readonly text: string
  readonly thought: string
  readonly tools: ReadonlyArray<ToolCall>
  readonly outcome: Outcome | null
  readonly requestId: string
  /** Name of the provider that answers, as the gateway tells; empty: not yet. */
  readonly target: string
  readonly firstMs: number | null
  readonly wholeMs: number | null
  readonly pieces: number
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  /** US dollars, an estimate; null: no price is known. */
  readonly costUsd: number | null
  readonly error: ApiError | null
}

export const idle: Run = {
  state: "idle",
  text: "",
  thought: "",
  tools: [],
  outcome: null,
  requestId: "",
  target: "",
  firstMs: null,
  wholeMs: null,
  pieces: 0,
  tokensIn: null,
  tokensOut: null,
  costUsd: null,
  error: null
}

/** Tokens a second after the first one, by the provider's count where it has come, else by the pieces; of an answer that came at once, over the whole time. */
export const tokensPerSecond = ({ firstMs, pieces, tokensOut, wholeMs }: Run): number | null => {
  if (firstMs === null || wholeMs === null || wholeMs <= firstMs) return null
  if (pieces < 2) return tokensOut === null ? null : (tokensOut * 1_000) / wholeMs
  const tokens = (tokensOut ?? pieces) - 1
  return tokens > 0 ? (tokens * 1_000) / (wholeMs - firstMs) : null
}

/** US dollars of tokens at prices for a million of them. */
export const costOf = (
  { tokensIn, tokensOut }: Pick<Run, "tokensIn" | "tokensOut">,
  price: { readonly input?: number | undefined; readonly output?: number | undefined } | null
): number | null => {
  if (price === null || tokensIn === null || (price.input === undefined && price.output === undefined)) return null
  return (tokensIn * (price.input ?? 0) + (tokensOut ?? 0) * (price.output ?? 0)) / 1_000_000
}
