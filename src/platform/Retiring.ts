/** How a process leaves its place to another one that serves already (docs/workers.md). */
import * as Context from "effect/Context"

/** Returns the milliseconds for which open connections may still be used when the process ends; 0: nobody takes its place. */
export class Retiring extends Context.Reference<Retiring>()("gateway/platform/Retiring", {
  defaultValue: (): (() => number) => () => 0
}) {}
