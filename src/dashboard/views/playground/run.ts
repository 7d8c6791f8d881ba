/** One answer as it comes, with times that this page measures: they are estimates, as the gateway's own are in the request's row. */
import { type Signal, signal } from "@preact/signals"
import { ApiError } from "../../api/ApiError.ts"
import { modelCatalogList } from "../../api/calls.generated.ts"
import { infer, type Inference, readStream } from "../../api/infer.ts"
import type { AnswerKind, Endpoint } from "./endpoints.ts"
import { costOf, idle, type Run } from "./estimates.ts"
import { outcomeOf, usageOf } from "./outcome.ts"

export const makeRun = (): Signal<Run> => signal<Run>(idle)

export interface Asking extends Inference {
  readonly endpoint: Endpoint
  readonly answer: AnswerKind
}

/** Draws what has come at most twenty times a second. */
const gatherMs = 50

const begunOf = (headers: Headers): Pick<Run, "costUsd" | "requestId" | "target"> => {
  const cost = Number(headers.get("x-gateway-response-cost") ?? "none")
  const [provider, model] = [headers.get("x-gateway-provider") ?? "", headers.get("x-gateway-model") ?? ""]
  return {
    requestId: headers.get("x-gateway-request-id") ?? "",
    target: provider === "" ? "" : model.startsWith(`${provider}/`) ? model : `${provider}/${model}`,
    costUsd: Number.isFinite(cost) ? cost : null
  }
}

class Course {
  readonly #run: Signal<Run>
  readonly #began = performance.now()
  #now: Run = { ...idle, state: "waiting" }
  #timer: number | undefined

  constructor(run: Signal<Run>) {
    this.#run = run
    run.value = this.#now
  }

  get passedMs(): number {
    return performance.now() - this.#began
  }

  get now(): Run {
    return this.#now
  }

  /** Changes what is known; it is drawn a little later, with what comes meanwhile. */
  gather(part: Partial<Run>): void {
    this.#now = { ...this.#now, ...part }
    this.#timer ??= globalThis.setTimeout(() => this.show({}), gatherMs)
  }

  show(part: Partial<Run>): void {
    globalThis.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#now = { ...this.#now, ...part }
    this.#run.value = this.#now
  }

  piece(part: Partial<Run>): void {
    const { firstMs, pieces } = this.#now
    this.gather({
      ...part,
      state: "running",
      pieces: pieces + 1,
      firstMs: firstMs ?? this.passedMs,
      wholeMs: this.passedMs
    })
  }

  tool(place: number, name: string, input: string): void {
    const tools = [...this.#now.tools]
    const known = tools[place] ?? { name: "", input: "" }
    tools[place] = { name: known.name + name, input: known.input + input }
    this.piece({ tools })
  }
}

const take = async (course: Course, { answer, endpoint }: Asking, response: Response): Promise<Partial<Run>> => {
  if (answer === "stream") {
    const isWhole = await readStream(response, {
      text: (piece) => course.piece({ text: course.now.text + piece }),
      thought: (piece) => course.piece({ thought: course.now.thought + piece }),
      tool: (place, name, input) => course.tool(place, name, input),
      usage: (tokensIn, tokensOut) => course.gather({ tokensIn, tokensOut })
    })
    return { state: isWhole ? "ended" : "cut" }
  }
  if (answer === "bytes") {
    const blob = await response.blob()
    return { state: "ended", outcome: { _tag: "Sounds", media: [{ blob }] } }
  }
  const value: unknown = await response.json()
  return { state: "ended", outcome: outcomeOf(endpoint, value), ...usageOf(value) }
}

/** The price of who has answered, of the gateway's table. */
const priceOf = async (target: string, leaving: AbortSignal) => {
  const { models } = await modelCatalogList({ query: { search: target, limit: 20 }, signal: leaving })
  return models.find(({ id }) => id === target)?.price ?? null
}

const estimate = async (course: Course, leaving: AbortSignal): Promise<void> => {
  const { costUsd, target, tokensIn } = course.now
  if ((costUsd !== null && costUsd > 0) || target === "" || tokensIn === null) return
  const price = await priceOf(target, leaving).catch(() => null)
  course.show({ costUsd: costOf(course.now, price) })
}

/** Runs one question, and writes its course into the signal. Does not fail. */
export const start = async (run: Signal<Run>, asking: Asking): Promise<void> => {
  const course = new Course(run)
  try {
    const response = await infer(asking)
    course.show(begunOf(response.headers))
    const told = await take(course, asking, response)
    course.show({ ...told, wholeMs: course.passedMs })
  } catch (error) {
    if (asking.signal.aborted) course.show({ state: "stopped" })
    // A network that fails in mid-answer has cut it: what came is kept.
    else if (!(error instanceof ApiError) && course.now.pieces > 0) course.show({ state: "cut" })
    else {
      course.show({
        state: "failed",
        error:
          error instanceof ApiError
            ? error
            : new ApiError(error instanceof Error ? error.message : String(error), { status: 0, code: "broken" })
      })
    }
    return
  }
  await estimate(course, asking.signal)
}
