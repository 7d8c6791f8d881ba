/** Lines that plugins write in a worker, at the owner, which is asked for them (docs/workers.md). */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ContentPermission } from "../../../domain/ContentPermission.ts"
import { OwnerLink } from "../../../plane/state/link/OwnerLink.ts"
import { WorkerLinks } from "../../../plane/state/link/WorkerLinks.ts"
import type { LogLine } from "../sandbox/Sandbox.ts"

const topic = "plugin.line"

type Write = (name: string, permission: ContentPermission, line: LogLine) => void

export interface PluginLines {
  /** Takes a line beside the ring of this process. */
  readonly write: Write
  /** Calls `take` with the lines of other processes. */
  readonly listen: (take: Write) => () => void
}

export class SharedLines extends Context.Reference<SharedLines>()("gateway/agents/plugins/SharedLines", {
  defaultValue: (): PluginLines => ({ write: () => {}, listen: () => () => {} })
}) {}

interface Line {
  readonly name: string
  readonly permission: ContentPermission
  readonly line: LogLine
}

export const workerLayer: Layer.Layer<never, never, OwnerLink> = Layer.effectContext(
  Effect.map(OwnerLink, ({ send }) => {
    const write: Write = (name, permission, line) => send(topic, { name, permission, line } satisfies Line)
    return Context.make(SharedLines, { write, listen: () => () => {} }) as Context.Context<never>
  })
)

export const ownerLayer: Layer.Layer<never, never, WorkerLinks> = Layer.effectContext(
  Effect.map(WorkerLinks, ({ serve }) => {
    const listen: PluginLines["listen"] = (take) =>
      serve(topic, (_, body) => {
        const { line, name, permission } = body as Line
        take(name, permission, line)
      })
    return Context.make(SharedLines, { write: () => {}, listen }) as Context.Context<never>
  })
)
