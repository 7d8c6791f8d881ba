/** Plugins that run in several processes: lines and counts of workers at the owner, which is asked for them (docs/workers.md). */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ContentPermission } from "../../../contract/domain/ContentPermission.ts"
import { OwnerLink } from "../../../plane/state/link/OwnerLink.ts"
import { WorkerLinks } from "../../../plane/state/link/WorkerLinks.ts"
import { makeRounds, takePart } from "../../../plane/state/link/Rounds.ts"
import type { HookStats } from "../hooks/HookStats.ts"
import type { LogLine } from "../sandbox/Sandbox.ts"

const topics = {
  line: "plugin.line",
  /** A round: counts of all plugins. */
  stats: "plugin.stats"
} as const

type Write = (name: string, permission: ContentPermission, line: LogLine) => void
/** Counts of a process, by plugin. */
export type StatsByName = Readonly<Record<string, HookStats>>

export interface SharedPluginsShape {
  /** Takes a line beside the ring of this process. */
  readonly write: Write
  /** Calls `take` with the lines of other processes. */
  readonly listen: (take: Write) => () => void
  /** Counts of the other processes. */
  readonly gather: Effect.Effect<ReadonlyArray<StatsByName>>
  /** Tells the counts of this process where they are asked for. */
  readonly answer: (stats: () => StatsByName) => () => void
}

const nothing = (): void => {}
const alone: SharedPluginsShape = {
  write: nothing,
  listen: () => nothing,
  gather: Effect.succeed([]),
  answer: () => nothing
}

export class SharedPlugins extends Context.Reference<SharedPlugins>()("gateway/agents/plugins/SharedPlugins", {
  defaultValue: () => alone
}) {}

interface Line {
  readonly name: string
  readonly permission: ContentPermission
  readonly line: LogLine
}

export const workerLayer: Layer.Layer<never, never, OwnerLink> = Layer.effectContext(
  Effect.map(OwnerLink, (link) => {
    const shared: SharedPluginsShape = {
      ...alone,
      write: (name, permission, line) => link.send(topics.line, { name, permission, line } satisfies Line),
      answer: (stats) => takePart(link, topics.stats, (done) => done(stats()))
    }
    return Context.make(SharedPlugins, shared) as Context.Context<never>
  })
)

export const ownerLayer: Layer.Layer<never, never, WorkerLinks> = Layer.scopedContext(
  Effect.gen(function* () {
    const links = yield* WorkerLinks
    const { round, stop } = makeRounds(links, topics.stats)
    yield* Effect.addFinalizer(() => Effect.sync(stop))
    const shared: SharedPluginsShape = {
      ...alone,
      listen: (take) =>
        links.serve(topics.line, (_, body) => {
          const { line, name, permission } = body as Line
          take(name, permission, line)
        }),
      gather: Effect.map(round(), (answers) => answers as ReadonlyArray<StatsByName>)
    }
    return Context.make(SharedPlugins, shared) as Context.Context<never>
  })
)
