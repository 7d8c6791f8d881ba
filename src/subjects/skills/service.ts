/**
 * Runs a code block of an agent skill, in the sandbox that plugins run in (docs/skills.md): a thread and an engine of its own that end with it, without
 * files, variables and programs. It has the network only while the flag `SKILLS_SANDBOX_NETWORK_ENABLED` is on, and then what plugins may
 * ask. Nothing of what it says is kept.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Flags } from "../flags/service.ts"
import * as BuiltOnce from "../../platform/BuiltOnce.ts"
import type { HookCall } from "../../agents/plugins/hooks/Listener.ts"
import type { Sandbox, SandboxedCode } from "../../agents/plugins/sandbox/Sandbox.ts"
import { isArray, objectOr, parseJson, type Json, stringOr } from "../../wire/json/Json.ts"

export interface BlockResult {
  /** Value that the block returned; null: none. */
  readonly value: Json
  /** Output that it wrote, a text for each call of `console`. */
  readonly output: ReadonlyArray<string>
  readonly hadNetwork: boolean
  readonly durationMs: number
}

/** Failure of a block: it threw, was late, or used too much. `message` is for its author. */
export class BlockFailed extends Data.TaggedError("BlockFailed")<{
  readonly message: string
  readonly output: ReadonlyArray<string>
}> {}

/** Error at the limit of running blocks; `most`: that limit. */
export class BlocksBusy extends Data.TaggedError("BlocksBusy")<{ readonly most: number }> {}

export class SkillBlocks extends Context.Tag("gateway/subjects/skills/SkillBlocks")<
  SkillBlocks,
  {
    /** JavaScript: the body of an async function. */
    readonly run: (text: string) => Effect.Effect<BlockResult, BlockFailed | BlocksBusy>
  }
>() {}

/** Limits of one block. */
export const blockBounds = {
  memoryBytes: 32 * 1_048_576,
  stackBytes: 512 * 1_024,
  cpuMs: 2_000,
  timeoutMs: 10_000,
  /** Most characters of the value and of the output, each. */
  outputChars: 100_000,
  lines: 500
} as const

const mostAtOnce = 2
/** Error by which the engine reports to the code around a block that its time is over. */
const interrupted = "InternalError: interrupted"
const tooLong = `It took more than ${blockBounds.cpuMs} ms of processor time`
/** Most bytes of all that comes out of a sandbox. */
const mostBytes = 1_048_576

const noNetwork =
  "the network is off for code blocks of skills. Turn it on with the flag SKILLS_SANDBOX_NETWORK_ENABLED (gateway flags set)."

/** The module that runs the block. The block is a text in it: whatever it holds, it is the body of a function and nothing more. */
const moduleOf = (text: string): string => `
import { definePlugin, modifyBody } from "gateway/plugin"
const text = ${JSON.stringify(text)}
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor
const { stringify } = JSON
const say = (value) => {
  if (typeof value === "string") return value
  if (value instanceof Error) return String(value)
  try { return stringify(value) ?? String(value) } catch { return String(value) }
}
const run = async () => {
  const output = []
  let left = ${blockBounds.outputChars}
  const write = (...values) => {
    if (output.length >= ${blockBounds.lines} || left <= 0) return
    const line = values.map(say).join(" ").slice(0, left)
    left -= line.length
    output.push(line)
  }
  const console = { debug: write, trace: write, log: write, info: write, warn: write, error: write }
  const ask = globalThis.fetch ?? (() => Promise.reject(new Error("fetch: ${noNetwork}")))
  try {
    const value = (await new AsyncFunction("console", "fetch", text)(console, ask)) ?? null
    const chars = (stringify(value) ?? "").length
    if (chars === 0) throw new TypeError("What it returned is not JSON")
    if (chars > ${blockBounds.outputChars}) throw new RangeError("What it returned has " + chars + " characters of JSON, more than the ${blockBounds.outputChars} that it may have")
    return modifyBody({ value, output })
  } catch (error) {
    return modifyBody({ failure: (error instanceof Error ? String(error) : "it threw " + say(error)).slice(0, 1000), output })
  }
}
export default definePlugin({ name: "skill-block", onResponse: run })
`

const codeOf = (text: string, mayAsk: boolean): SandboxedCode => ({
  name: "skill-block",
  version: "1.0.0",
  files: new Map([["block.js", moduleOf(text)]]),
  main: "block.js",
  permissions: new Set(mayAsk ? (["network"] as const) : []),
  hosts: null,
  config: {},
  isBackground: false,
  // It has no permission for files.
  dataFolder: "",
  limits: { ...blockBounds, waiting: 1 }
})

/** Context of the sandbox's call: there is no request behind it. */
const call: HookCall = {
  context: {
    requestId: "",
    model: "",
    provider: "",
    headers: {},
    metadata: {},
    timestamp: 0,
    hook: "onResponse",
    wire: "chat",
    endpoint: "",
    stream: false,
    apiKeyId: null
  },
  permission: null,
  body: null,
  payload: {}
}

const failed = (message: string, output: ReadonlyArray<string> = []) => new BlockFailed({ message, output })

const linesOf = (value: Json | undefined): ReadonlyArray<string> =>
  isArray(value) ? value.filter((line): line is string => typeof line === "string") : []

/** Loads what opens sandboxes; `R` is what that works on. */
export type LoadSandbox<R> = BuiltOnce.Load<typeof Sandbox.Service, R>

const make = Effect.fnUntraced(function* <R>(load: LoadSandbox<R>) {
  const flags = yield* Flags
  const sandbox = yield* BuiltOnce.make(load)
  let running = 0

  const runOne = Effect.fn("SkillBlocks.run")(function* (text: string) {
    const hadNetwork = flags.isOn("SKILLS_SANDBOX_NETWORK_ENABLED")
    const { open } = yield* sandbox.get
    const opened = yield* Effect.catchTag(
      open(codeOf(text, hadNetwork), () => {}),
      "PluginNotLoaded",
      ({ message }) => Effect.fail(failed(message))
    )
    const outcome = yield* opened.call(call)
    if (outcome._tag !== "Changed") {
      return yield* failed(outcome._tag === "Failed" ? outcome.reason : "It answered nothing")
    }
    // It can change the code around it, so what comes out is measured here.
    if (outcome.body.byteLength > mostBytes) return yield* failed(`It answered more than ${mostBytes} bytes`)
    const { failure, output, value = null } = objectOr(parseJson(Buffer.from(outcome.body).toString("utf8")))
    const problem = stringOr(failure)
    if (problem !== null) return yield* failed(problem === interrupted ? tooLong : problem, linesOf(output))
    return { value, output: linesOf(output), hadNetwork, durationMs: outcome.ms }
  }, Effect.scoped)

  return SkillBlocks.of({
    run: (text) =>
      Effect.suspend((): Effect.Effect<BlockResult, BlockFailed | BlocksBusy> => {
        if (running >= mostAtOnce) return Effect.fail(new BlocksBusy({ most: mostAtOnce }))
        running += 1
        return Effect.ensuring(
          runOne(text),
          Effect.sync(() => {
            running -= 1
          })
        )
      })
  })
})

export const layer = <R>(load: LoadSandbox<R>): Layer.Layer<SkillBlocks, never, Exclude<R, Scope.Scope> | Flags> =>
  Layer.scoped(SkillBlocks, make(load)) as Layer.Layer<SkillBlocks, never, Exclude<R, Scope.Scope> | Flags>
