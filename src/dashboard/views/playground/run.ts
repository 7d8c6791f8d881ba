/** One answer as it comes, with times that this page measures: they are estimates, as the gateway's own are in the request's row. */
import { type Signal, signal } from "@preact/signals"
import type { ApiError } from "../../api/ApiError.ts"
import { stream, type StreamAsked } from "../../api/stream.ts"

export interface Run {
  readonly state: "idle" | "waiting" | "running" | "ended" | "stopped" | "failed"
  readonly text: string
  readonly requestId: string
  readonly firstMs: number | null
  readonly wholeMs: number | null
  readonly pieces: number
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  readonly error: ApiError | null
}

export const idle: Run = {
  state: "idle",
  text: "",
  requestId: "",
  firstMs: null,
  wholeMs: null,
  pieces: 0,
  tokensIn: null,
  tokensOut: null,
  error: null
}

/** Tokens a second after the first one: by the provider's count where it has come, else by the pieces. */
export const tokensPerSecond = ({ firstMs, pieces, tokensOut, wholeMs }: Run): number | null => {
  if (firstMs === null || wholeMs === null || wholeMs <= firstMs) return null
  const tokens = (tokensOut ?? pieces) - 1
  return tokens > 0 ? (tokens * 1_000) / (wholeMs - firstMs) : null
}

export const makeRun = (): Signal<Run> => signal<Run>(idle)

/** Runs one question, and writes its course into the signal. Does not fail. */
export const start = async (run: Signal<Run>, asked: StreamAsked): Promise<void> => {
  const began = performance.now()
  const passed = (): number => performance.now() - began
  run.value = { ...idle, state: "waiting" }
  try {
    await stream(asked, {
      began: (requestId) => {
        run.value = { ...run.value, requestId }
      },
      text: (piece) => {
        const { firstMs, pieces, text } = run.value
        run.value = {
          ...run.value,
          state: "running",
          text: text + piece,
          pieces: pieces + 1,
          firstMs: firstMs ?? passed(),
          wholeMs: passed()
        }
      },
      usage: (tokensIn, tokensOut) => {
        run.value = { ...run.value, tokensIn, tokensOut }
      }
    })
    run.value = { ...run.value, state: "ended", wholeMs: passed() }
  } catch (error) {
    run.value = asked.signal.aborted
      ? { ...run.value, state: "stopped" }
      : { ...run.value, state: "failed", error: error as ApiError }
  }
}
