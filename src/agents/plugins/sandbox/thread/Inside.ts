/** Puts the scripts and the code of a plugin into an engine, and calls what they define. Shared by threads and router strategies. */
import type { QuickJSHandle } from "quickjs-emscripten-core"
import type { Engine } from "../Engine.ts"
import { crossing } from "../Limits.ts"
import { bindHost, type HostApi } from "./HostFunctions.ts"
import type { InsideTexts } from "./Protocol.ts"

export interface InsideCode {
  readonly inside: InsideTexts
  readonly files: ReadonlyMap<string, string>
  readonly main: string
  readonly permissions: ReadonlyArray<string>
  readonly maxBodyBytes: number
}

export type Argument = string | number | boolean | null

/** End of a call of the engine. `Stopped`: it was interrupted; `Broken`: the module itself has failed. */
export type Ended =
  | { readonly _tag: "Returned"; readonly text: string | null }
  | { readonly _tag: "Threw"; readonly message: string }
  | { readonly _tag: "Stopped" }
  | { readonly _tag: "Broken"; readonly reason: string }

export interface Inside {
  /** Calls a function of the scripts; its result is a text or nothing. */
  readonly call: (name: string, ...args: ReadonlyArray<Argument>) => Ended
  /** Evaluates the main module. */
  readonly evaluate: () => Ended
  /** Returns, after `evaluate`, the definition of the plugin. Null while the module awaits something. */
  readonly defined: () => Ended | null
  /** Runs jobs until there is none, at most `limit` of them. True: none is left. */
  readonly runJobs: (limit: number) => boolean | Ended
}

/** A module's file by the path that another has imported; null outside the plugin's files. */
export const resolveModule = (from: string, asked: string): string | null => {
  if (!asked.startsWith("./") && !asked.startsWith("../")) return null
  const parts = from.split("/").slice(0, -1)
  for (const part of asked.split("/")) {
    if (part === "" || part === ".") continue
    if (part === "..") {
      if (parts.length === 0) return null
      parts.pop()
    } else parts.push(part)
  }
  return parts.join("/")
}

const sdkName = "gateway/plugin"
/** Prefix of a plugin's files, so that none can be named like the SDK. */
const filePrefix = "plugin/"
/**
 * Prefix of names that are none of them. The loader refuses them: the engine drops the error of a resolver and asks for
 * a module without a name.
 */
const foreignPrefix = "foreign/"

const interrupted = /^InternalError: interrupted/

class EngineInside implements Inside {
  readonly #api: HostApi
  readonly #code: InsideCode
  readonly #context: Engine["context"]
  readonly #runtime: Engine["runtime"]
  /** Result of evaluating the main module: a promise of its exports. */
  #namespace: QuickJSHandle | null = null
  readonly #functions = new Map<string, QuickJSHandle>()

  constructor(engine: Engine, api: HostApi, code: InsideCode) {
    this.#api = api
    this.#code = code
    const { context, runtime } = engine
    this.#context = context
    this.#runtime = runtime
    this.#runtime.setModuleLoader(
      (name) => {
        if (name === sdkName) return this.#code.inside.sdk
        if (name.startsWith(foreignPrefix)) {
          const asked = name.slice(foreignPrefix.length, foreignPrefix.length + 200)
          return {
            error: new Error(`A plugin imports "gateway/plugin" and its own files by relative path, not "${asked}"`)
          }
        }
        const source = name.startsWith(filePrefix) ? this.#code.files.get(name.slice(filePrefix.length)) : undefined
        return source ?? { error: new Error(`The plugin has no file ${name.replace(filePrefix, "").slice(0, 200)}`) }
      },
      (from, asked) => {
        if (asked === sdkName) return sdkName
        const path = from.startsWith(filePrefix) ? resolveModule(from.slice(filePrefix.length), asked) : null
        return path === null ? foreignPrefix + asked : filePrefix + path
      }
    )
    const scripts = ((): QuickJSHandle => {
      const source = `(() => {\nconst parts = {}\n${this.#code.inside.scripts.join("\n")}\nreturn parts.start })()`
      const start = this.#context.unwrapResult(this.#context.evalCode(source, "gateway"))
      const host = bindHost(this.#context, this.#api, this.#code.maxBodyBytes)
      const permissions = this.#context.newString(JSON.stringify(this.#code.permissions))
      const made = this.#context.unwrapResult(
        this.#context.callFunction(start, this.#context.undefined, host, permissions)
      )
      for (const each of [start, host, permissions]) each.dispose()
      return made
    })()
    for (const name of [
      "invoke",
      "define",
      "configure",
      "fire",
      "forgetTimer",
      "settle",
      "forgetAsk",
      "describe",
      "describeStrategy",
      "select"
    ]) {
      this.#functions.set(name, this.#context.getProp(scripts, name))
    }
  }

  #messageOf(error: QuickJSHandle): string {
    const described = this.#apply("describe", [error])
    return described._tag === "Returned" ? (described.text ?? "") : "it threw something that cannot be shown"
  }

  #broken(error: unknown): Ended {
    return {
      _tag: "Broken",
      reason: error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 200) : "it failed"
    }
  }

  readonly #endedBy = (error: QuickJSHandle): Ended => {
    const message = this.#messageOf(error)
    if (interrupted.test(message)) return { _tag: "Stopped" }
    if (message.startsWith("InternalError: out of memory")) return { _tag: "Broken", reason: "out of memory" }
    return { _tag: "Threw", message }
  }

  #textOf(value: QuickJSHandle): string | null {
    if (this.#context.typeof(value) !== "string") return null
    const length = this.#context.getProp(value, "length").consume((each) => this.#context.getNumber(each))
    return length > crossing.smallChars ? null : this.#context.getString(value)
  }

  #apply(name: string, args: ReadonlyArray<QuickJSHandle>): Ended {
    try {
      const run = this.#functions.get(name)
      if (run === undefined) return { _tag: "Threw", message: `no function ${name}` }
      const result = this.#context.callFunction(run, this.#context.undefined, ...args)
      if (result.error !== undefined) {
        const { error } = result
        // Describing an error that came of describing one would not end.
        return error.consume((thrown) => (name === "describe" ? { _tag: "Threw", message: "" } : this.#endedBy(thrown)))
      }
      return result.value.consume((value) => ({ _tag: "Returned", text: this.#textOf(value) }))
    } catch (error) {
      return this.#broken(error)
    }
  }

  #argumentOf(value: Argument): QuickJSHandle {
    switch (typeof value) {
      case "string":
        return this.#context.newString(value)
      case "number":
        return this.#context.newNumber(value)
      case "boolean":
        return value ? this.#context.true : this.#context.false
      default:
        return this.#context.null
    }
  }

  readonly call = (name: string, ...args: ReadonlyArray<Argument>): Ended => {
    const handles: Array<QuickJSHandle> = []
    try {
      for (const each of args) handles.push(this.#argumentOf(each))
      return this.#apply(name, handles)
    } catch (error) {
      return this.#broken(error)
    } finally {
      for (const each of handles) if (each.alive) each.dispose()
    }
  }

  readonly evaluate = (): Ended => {
    try {
      const source = this.#code.files.get(this.#code.main)
      if (source === undefined) return { _tag: "Threw", message: `The plugin has no file ${this.#code.main}` }
      const result = this.#context.evalCode(source, filePrefix + this.#code.main, { type: "module" })
      if (result.error !== undefined) return result.error.consume(this.#endedBy)
      this.#namespace = result.value
      return { _tag: "Returned", text: null }
    } catch (error) {
      return this.#broken(error)
    }
  }

  readonly defined = (): Ended | null => {
    if (this.#namespace === null) return { _tag: "Threw", message: "it was not evaluated" }
    try {
      const state = this.#context.getPromiseState(this.#namespace)
      if (state.type === "pending") return null
      if (state.type === "rejected") {
        const ended = state.error.consume(this.#endedBy)
        this.#namespace.dispose()
        this.#namespace = null
        return ended
      }
      const ended = this.#apply("define", [state.value])
      if (state.value !== this.#namespace) state.value.dispose()
      if (this.#namespace.alive) this.#namespace.dispose()
      this.#namespace = null
      return ended
    } catch (error) {
      return this.#broken(error)
    }
  }

  readonly runJobs = (limit: number): boolean | Ended => {
    try {
      if (!this.#runtime.hasPendingJob()) return true
      const result = this.#runtime.executePendingJobs(limit)
      if (result.error !== undefined) return result.error.consume(this.#endedBy)
      return !this.#runtime.hasPendingJob()
    } catch (error) {
      return this.#broken(error)
    }
  }
}

export const makeInside = (engine: Engine, api: HostApi, code: InsideCode): Inside =>
  new EngineInside(engine, api, code)
