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

export const makeInside = (engine: Engine, api: HostApi, code: InsideCode): Inside => {
  const { context, runtime } = engine
  /** Result of evaluating the main module: a promise of its exports. */
  let namespace: QuickJSHandle | null = null

  runtime.setModuleLoader(
    (name) => {
      if (name === sdkName) return code.inside.sdk
      if (name.startsWith(foreignPrefix)) {
        const asked = name.slice(foreignPrefix.length, foreignPrefix.length + 200)
        return {
          error: new Error(`A plugin imports "gateway/plugin" and its own files by relative path, not "${asked}"`)
        }
      }
      const source = name.startsWith(filePrefix) ? code.files.get(name.slice(filePrefix.length)) : undefined
      return source ?? { error: new Error(`The plugin has no file ${name.replace(filePrefix, "").slice(0, 200)}`) }
    },
    (from, asked) => {
      if (asked === sdkName) return sdkName
      const path = from.startsWith(filePrefix) ? resolveModule(from.slice(filePrefix.length), asked) : null
      return path === null ? foreignPrefix + asked : filePrefix + path
    }
  )

  const messageOf = (error: QuickJSHandle): string => {
    const described = apply("describe", [error])
    return described._tag === "Returned" ? (described.text ?? "") : "it threw something that cannot be shown"
  }

  const broken = (error: unknown): Ended => ({
    _tag: "Broken",
    reason: error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 200) : "it failed"
  })

  const endedBy = (error: QuickJSHandle): Ended => {
    const message = messageOf(error)
    if (interrupted.test(message)) return { _tag: "Stopped" }
    if (message.startsWith("InternalError: out of memory")) return { _tag: "Broken", reason: "out of memory" }
    return { _tag: "Threw", message }
  }

  const textOf = (value: QuickJSHandle): string | null => {
    if (context.typeof(value) !== "string") return null
    const length = context.getProp(value, "length").consume((each) => context.getNumber(each))
    return length > crossing.smallChars ? null : context.getString(value)
  }

  const apply = (name: string, args: ReadonlyArray<QuickJSHandle>): Ended => {
    try {
      const run = functions.get(name)
      if (run === undefined) return { _tag: "Threw", message: `no function ${name}` }
      const result = context.callFunction(run, context.undefined, ...args)
      if (result.error !== undefined) {
        const { error } = result
        // Describing an error that came of describing one would not end.
        return error.consume((thrown) => (name === "describe" ? { _tag: "Threw", message: "" } : endedBy(thrown)))
      }
      return result.value.consume((value) => ({ _tag: "Returned", text: textOf(value) }))
    } catch (error) {
      return broken(error)
    }
  }

  const argumentOf = (value: Argument): QuickJSHandle => {
    switch (typeof value) {
      case "string":
        return context.newString(value)
      case "number":
        return context.newNumber(value)
      case "boolean":
        return value ? context.true : context.false
      default:
        return context.null
    }
  }

  const call = (name: string, ...args: ReadonlyArray<Argument>): Ended => {
    const handles: Array<QuickJSHandle> = []
    try {
      for (const each of args) handles.push(argumentOf(each))
      return apply(name, handles)
    } catch (error) {
      return broken(error)
    } finally {
      for (const each of handles) if (each.alive) each.dispose()
    }
  }

  const functions = new Map<string, QuickJSHandle>()
  const scripts = ((): QuickJSHandle => {
    const source = `(() => {\nconst parts = {}\n${code.inside.scripts.join("\n")}\nreturn parts.start })()`
    const start = context.unwrapResult(context.evalCode(source, "gateway"))
    const host = bindHost(context, api, code.maxBodyBytes)
    const permissions = context.newString(JSON.stringify(code.permissions))
    const made = context.unwrapResult(context.callFunction(start, context.undefined, host, permissions))
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
    functions.set(name, context.getProp(scripts, name))
  }

  const evaluate = (): Ended => {
    try {
      const source = code.files.get(code.main)
      if (source === undefined) return { _tag: "Threw", message: `The plugin has no file ${code.main}` }
      const result = context.evalCode(source, filePrefix + code.main, { type: "module" })
      if (result.error !== undefined) return result.error.consume(endedBy)
      namespace = result.value
      return { _tag: "Returned", text: null }
    } catch (error) {
      return broken(error)
    }
  }

  const defined = (): Ended | null => {
    if (namespace === null) return { _tag: "Threw", message: "it was not evaluated" }
    try {
      const state = context.getPromiseState(namespace)
      if (state.type === "pending") return null
      if (state.type === "rejected") {
        const ended = state.error.consume(endedBy)
        namespace.dispose()
        namespace = null
        return ended
      }
      const ended = apply("define", [state.value])
      if (state.value !== namespace) state.value.dispose()
      if (namespace.alive) namespace.dispose()
      namespace = null
      return ended
    } catch (error) {
      return broken(error)
    }
  }

  const runJobs = (limit: number): boolean | Ended => {
    try {
      if (!runtime.hasPendingJob()) return true
      const result = runtime.executePendingJobs(limit)
      if (result.error !== undefined) return result.error.consume(endedBy)
      return !runtime.hasPendingJob()
    } catch (error) {
      return broken(error)
    }
  }

  return { call, evaluate, defined, runJobs }
}
