/** Messages between the gateway and the thread of a plugin. Everything a plugin made is text or bytes. */
import type { MessagePort } from "node:worker_threads"
import type { PluginHook } from "../../../../subjects/plugins/entity.ts"
import type { SandboxLimits } from "../Sandbox.ts"

export interface InsideTexts {
  /** Scripts, in order; they share an object `parts`, to which the last gives `start`. */
  readonly scripts: ReadonlyArray<string>
  /** The module "gateway/plugin". */
  readonly sdk: string
}

export interface ThreadStart {
  readonly wasm: WebAssembly.Module
  readonly inside: InsideTexts
  readonly files: ReadonlyMap<string, string>
  readonly main: string
  readonly permissions: ReadonlyArray<string>
  /** JSON. */
  readonly config: string
  /** JSON of what `process.env` shows. */
  readonly environment: string
  readonly limits: SandboxLimits
  /** No request waits for it. */
  readonly isBackground: boolean
  /** A body or answer that leaves the sandbox. */
  readonly maxBodyBytes: number
}

export interface SentCall {
  readonly hook: PluginHook
  /** JSON; null for the events of a plugin's own life. */
  readonly context: string | null
  readonly payload: string
  readonly body: Uint8Array | null
  readonly timeoutMs: number
  /** Lines that it writes are kept. */
  readonly mayLog: boolean
}

export type ToThread =
  | { readonly kind: "call"; readonly id: number; readonly call: SentCall }
  | {
      readonly kind: "batch"
      readonly id: number
      /** Three lines per call: its hook (behind a dash where nothing that it writes may be kept), its context and its payload, both as JSON. One text, because that is copied at once. */
      readonly text: string
      /** Body of each call; null: none has one. */
      readonly bodies: ReadonlyArray<Uint8Array | null> | null
      /** Time limit of each call, in ms. */
      readonly timeoutMs: number
    }
  | { readonly kind: "configure"; readonly config: string }
  | { readonly kind: "answer"; readonly ask: number; readonly answer: HostAnswer }

/** `text`: JSON of the result, or of `{code, message, type}`. `blob`: a body that goes with it. */
export interface HostAnswer {
  readonly isDone: boolean
  readonly text: string
  readonly blob: Uint8Array | null
}

export type HostOperation =
  | "fetch"
  | "fs.readFile"
  | "fs.readdir"
  | "fs.stat"
  | "fs.writeFile"
  | "fs.mkdir"
  | "fs.rm"
  | "exec"

export interface ThreadLine {
  /** 0: debug, 1: info, 2: warn, 3: error. */
  readonly level: number
  readonly hook: PluginHook | null
  readonly message: string
  /** True for a call whose content may be kept, or for none. */
  readonly mayKeep: boolean
}

export type FromThread =
  | { readonly kind: "ready"; readonly defined: string }
  | { readonly kind: "refused"; readonly message: string }
  | {
      readonly kind: "outcome"
      readonly id: number
      readonly tag: "unchanged" | "changed" | "blocked" | "failed"
      /** JSON of an object; of "changed". */
      readonly body: Uint8Array | null
      /** JSON; of "blocked". */
      readonly answer: string | null
      /** Reason of "failed". */
      readonly reason: string | null
      readonly metadata: string | null
    }
  | { readonly kind: "batched"; readonly id: number; readonly failed: number }
  | { readonly kind: "lines"; readonly lines: ReadonlyArray<ThreadLine> }
  | { readonly kind: "ask"; readonly ask: number; readonly operation: string; readonly args: string }
  /** The thread waits for the answer, which comes by this port; then `signal` is set to 1. */
  | {
      readonly kind: "askNow"
      readonly operation: string
      readonly args: string
      readonly port: MessagePort
      readonly signal: Int32Array
    }
  | { readonly kind: "drop"; readonly ask: number }
  /** The module may be broken: it must not be used again. `reason` is for logs. */
  | { readonly kind: "broken"; readonly reason: string }
