/** Reports of the MCP server to the management: its tools and its sessions. The server fills it in when it is made. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Tool } from "./Tool.ts"

interface Server {
  /** Lists the tools, those of registered servers too, as far as they answer. */
  readonly tools: Effect.Effect<ReadonlyArray<Tool>>
  /** Counts the tools known now, without asking a registered server. */
  readonly count: Effect.Effect<number>
  readonly sessions: () => number
  /** Ends the sessions of all clients, with their calls; how many there were. */
  readonly endSessions: () => number
}

export class Directory extends Context.Tag("gateway/agents/mcp/Directory")<
  Directory,
  {
    readonly announce: (server: Server) => void
    /** Null: there is no server. */
    readonly server: () => Server | null
  }
>() {}

export const layer: Layer.Layer<Directory> = Layer.sync(Directory, () => {
  let announced: Server | null = null
  return {
    announce: (server) => {
      announced = server
    },
    server: () => announced
  }
})

/** Counts the tools of the server, as far as they are known now. */
export const countOf = (directory: typeof Directory.Service): Effect.Effect<number> =>
  directory.server()?.count ?? Effect.succeed(0)

/** The tools of the server; none where there is no server. */
export const toolsOf = (directory: typeof Directory.Service): Effect.Effect<ReadonlyArray<Tool>> =>
  directory.server()?.tools ?? Effect.succeed([])
