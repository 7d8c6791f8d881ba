/** The registered servers together: which of their tools a caller is offered, under which names, and what state each is in. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { makeLane } from "../../../kernel/Lane.ts"
import type { KeyScope } from "../../../subjects/keys/entity.ts"
import { Upstream } from "../../../net/egress/Upstream.ts"
import { type SentSecrets, sentSecrets } from "../../../kernel/secrets/SentSecrets.ts"
import { scrubber, secretParts } from "../../../kernel/secrets/Scrub.ts"
import { isSecretHeader } from "../../../kernel/text/Masking.ts"
import { anyWildcard } from "../../../kernel/text/Wildcards.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { programEnvironment } from "../../../platform/programs/ProgramEnvironment.ts"
import { Timers } from "../../../platform/Timers.ts"
import { isReservedHeader } from "../../../plane/providers/EndpointHeaders.ts"
import { headerSecrets } from "../../../plane/providers/EndpointSecrets.ts"
import type { StoreError } from "../../../store/Errors.ts"
import { McpServerRepo, type StoredMcpServer } from "../../../subjects/mcpServers/repo.ts"
import { type Caller, mayUseServer } from "../Caller.ts"
import type { Sees } from "../Notices.ts"
import { failed, type Tool } from "../Tool.ts"
import { type ForeignTool, offeredName, partsOf } from "./ForeignTools.ts"
import { httpLink, ownHeaders } from "./HttpLink.ts"
import { linkError, type OpenLink } from "./Link.ts"
import { stdioLink } from "./StdioLink.ts"
import { makeUpstreamServer, type ServerState, type UpstreamServer } from "./UpstreamServer.ts"

export class Upstreams extends Context.Tag("gateway/agents/mcp/upstream/Upstreams")<
  Upstreams,
  {
    /** The tools of all servers that the caller may use. A server that does not answer soon is left out. */
    readonly tools: (caller: Caller) => Effect.Effect<ReadonlyArray<Tool>>
    /** The tool of an offered name; null: no server has it, or the caller may not use it. */
    readonly tool: (name: string, caller: Caller) => Effect.Effect<Tool | null>
    /** Returns the state by the id of the server; those that are off or were never asked included. */
    readonly state: (server: StoredMcpServer) => Effect.Effect<ServerState>
    /** Connects now and lists the tools, of a server that is off, too. */
    readonly test: (server: StoredMcpServer) => Effect.Effect<ServerState>
    /** Takes over what has changed in the table. */
    readonly reload: Effect.Effect<void, StoreError>
    /**
     * Ends the programs and connections of all servers, with the calls that are in progress, and begins anew; how many
     * servers there are.
     */
    readonly restart: Effect.Effect<number, StoreError>
    /** Counts the tools known now, without asking. */
    readonly known: () => number
    /**
     * Adds a listener that is called when callers who see something of it may have other tools than before; by a server
     * as often as it likes.
     */
    readonly onChange: (listener: (sees: Sees) => void) => void
  }
>() {}

/** Time in ms that a list waits for a server that was not asked yet, or whose tools are old. */
const listWaitMs = 3_000
const atOnce = 16
/** A program that was not used for so long is ended; the next call starts it again. */
const programIdleMs = 300_000
/**
 * Time limit in ms of the first connection to a URL; a program, which may have to load itself, has as long as a
 * request.
 */
const connectMs = 10_000
/** Scopes that a key needs for any tool of a registered server. */
const foreignScopes: ReadonlyArray<KeyScope> = ["execute:skills"]

interface Entry {
  readonly row: StoredMcpServer
  readonly server: UpstreamServer
  readonly scope: Scope.CloseableScope
}

const off: ServerState = { status: "off", lastError: null, tools: null, info: null, version: null, seenAtMs: null }
const idle: ServerState = { ...off, status: "idle" }

const lockedText = "cannot be used: its secrets cannot be decrypted with the encryption key in use"

const plain = (values: Readonly<Record<string, Redacted.Redacted>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Redacted.value(value)]))

/** A path or an address without a query is no secret, however long it is, unless its name says so. */
const isPlace = (value: string): boolean => /^(?:[~.]{0,2}\/|[A-Za-z]:\\|https?:\/\/)[^?#@]*$/.test(value)

const isSecretValue = (name: string, value: string): boolean =>
  isPlace(value) ? isSecretHeader(name, "") : isSecretHeader(name, value)

/** Collects the secrets that are removed from all of the server's messages. */
const sentTo = ({ headers, program, url }: StoredMcpServer): SentSecrets =>
  sentSecrets([
    ...headerSecrets(headers ?? {}),
    ...(url === null || !URL.canParse(url) ? [] : [...new URL(url).searchParams])
      .filter(([name, value]) => isSecretHeader(name, value))
      .map(([, value]) => value),
    ...Object.entries(plain(program?.env ?? {})).flatMap(([name, value]) =>
      isSecretValue(name, value) ? [value] : []
    ),
    ...(program?.args ?? []).map(Redacted.value).filter((text) => isSecretValue("", text))
  ])

/** Collects the secrets that are removed from its error texts: short values, too. */
const secretsOf = ({ headers, program }: StoredMcpServer): ReadonlyArray<string> => [
  ...Object.entries(plain(headers ?? {})).flatMap(([name, value]) =>
    isSecretHeader(name, value) ? secretParts(value) : []
  ),
  ...Object.values(plain(program?.env ?? {})),
  ...(program?.args ?? []).map(Redacted.value).filter((text) => isSecretHeader("", text))
]

const endpointOf = (url: string, row: StoredMcpServer) => ({
  url: new URL(url),
  secrets: sentTo(row),
  headers: Object.entries(plain(row.headers ?? {})).flatMap(([name, value]) =>
    isReservedHeader(name.toLowerCase()) || ownHeaders.has(name.toLowerCase()) ? [] : [name.toLowerCase(), value]
  )
})

/** The same for each change of a server. */
const seersOf =
  ({ allowedKeys }: StoredMcpServer): Sees =>
  (caller) =>
    mayUseServer(caller, allowedKeys)

const isSame = (a: StoredMcpServer, b: StoredMcpServer): boolean =>
  a.updatedAtMs === b.updatedAtMs && a.locked === b.locked && a.name === b.name && a.isEnabled === b.isEnabled

const toolOf = ({ row, server }: Entry, tool: ForeignTool): Tool => ({
  name: offeredName(row.name, tool.name),
  server: row.name,
  toolset: "servers",
  title: tool.title,
  description: tool.description,
  scopes: foreignScopes,
  effect: tool.effect,
  isIdempotent: tool.isIdempotent,
  isOpenWorld: tool.isOpenWorld,
  inputSchema: tool.inputSchema,
  outputSchema: tool.outputSchema,
  passed: tool.passed,
  call: (input, call) => server.call(tool.name, input, call)
})

/** Makes a replacement for a tool that cannot be found because its server is down: the call reports that. */
const downTool = ({ row, server }: Entry, tool: string): Tool => ({
  name: offeredName(row.name, tool),
  server: row.name,
  toolset: "servers",
  title: tool,
  description: "",
  scopes: foreignScopes,
  effect: "destroy",
  isIdempotent: false,
  isOpenWorld: true,
  inputSchema: { type: "object" },
  outputSchema: null,
  call: () => Effect.sync(() => failed(`'${row.name}' ${server.state().lastError ?? "does not answer"}.`))
})

const usable = (found: ReadonlyMap<string, Entry>, caller: Caller): ReadonlyArray<Entry> => {
  return [...found.values()].filter(({ row }) => mayUseServer(caller, row.allowedKeys))
}

/** Begins the work with a server, in a scope of its own. */
const makeBegin = (all: Scope.Scope) =>
  Effect.gen(function* () {
    const { environment } = yield* AppConfig
    const timers = yield* Timers
    const upstream = yield* Upstream

    const linkOf = (row: StoredMcpServer, scope: Scope.Scope, scrub: (text: string) => string): OpenLink => {
      const { locked, program, url } = row
      if (locked) return () => linkError("unreachable", lockedText)
      if (url !== null) return httpLink({ dispatch: upstream.dispatch, endpoint: endpointOf(url, row), scope, scrub })
      if (program === null) return () => linkError("unreachable", "has neither a URL nor a program")
      const { args, command, env } = program
      const started = {
        command,
        args: args.map(Redacted.value),
        environment: { ...programEnvironment(environment), ...plain(env) }
      }
      return stdioLink(timers, started, sentTo(row), scrub)
    }

    return (row: StoredMcpServer, onChange: () => void): Effect.Effect<Entry> =>
      Effect.gen(function* () {
        const scope = yield* Scope.fork(all, ExecutionStrategy.sequential)
        const scrub = scrubber(secretsOf(row))
        const server = makeUpstreamServer({
          name: row.name,
          timeoutMs: row.timeoutMs,
          connectMs: row.url === null ? row.timeoutMs : Math.min(connectMs, row.timeoutMs),
          idleMs: row.url === null ? programIdleMs : null,
          open: linkOf(row, scope, scrub),
          allows: row.allowedTools === null ? () => true : anyWildcard(row.allowedTools),
          scope,
          timers,
          scrub,
          onChange
        })
        yield* Scope.addFinalizer(scope, server.close)
        return { row, server, scope }
      })
  })

type Begin = Effect.Effect.Success<ReturnType<typeof makeBegin>>

/** The servers that are enabled, read from the table when they are first needed. */
const makeEntries = (all: Scope.Scope, begin: Begin, changed: (sees: Sees) => void) =>
  Effect.gen(function* () {
    const repo = yield* McpServerRepo
    const oneAtATime = makeLane(1).inTurn
    let entries: ReadonlyMap<string, Entry> | null = null

    const beginTelling = (row: StoredMcpServer): Effect.Effect<Entry> => {
      const sees = seersOf(row)
      return begin(row, () => changed(sees))
    }

    /** Loads the registered servers; gives those that are there no more, or anew. */
    const load = Effect.gen(function* () {
      const rows = yield* repo.list
      const before = entries ?? new Map<string, Entry>()
      const now = new Map<string, Entry>()
      for (const row of rows.filter(({ isEnabled }) => isEnabled)) {
        const known = before.get(row.id)
        now.set(row.id, known !== undefined && isSame(known.row, row) ? known : yield* beginTelling(row))
      }
      entries = now
      const gone = [...before.values()].filter((entry) => now.get(entry.row.id) !== entry)
      for (const { scope } of gone) yield* Effect.forkIn(Scope.close(scope, Exit.void), all)
      const added = [...now.values()].filter((entry) => before.get(entry.row.id) !== entry)
      return { now, others: [...gone, ...added].map(({ row }) => seersOf(row)) }
    })

    const reload = oneAtATime(Effect.uninterruptible(load)).pipe(
      Effect.map(({ others }) => {
        if (others.length > 0) changed((caller) => others.some((sees) => sees(caller)))
      })
    )

    /** The table is read first: where that fails, all stays as it is. Programs have ended when it is done. */
    const restart = oneAtATime(
      Effect.uninterruptible(
        Effect.gen(function* () {
          const former = entries ?? new Map<string, Entry>()
          entries = null
          const { now } = yield* Effect.tapError(load, () =>
            Effect.sync(() => {
              entries = former
            })
          )
          yield* Effect.forEach(former.values(), ({ scope }) => Scope.close(scope, Exit.void), {
            concurrency: "unbounded",
            discard: true
          })
          changed((caller) => [...former.values(), ...now.values()].some(({ row }) => seersOf(row)(caller)))
          return now.size
        })
      )
    ).pipe(Effect.withSpan("Upstreams.restart"))

    const loaded: Effect.Effect<ReadonlyMap<string, Entry>> = Effect.suspend(() =>
      entries !== null
        ? Effect.succeed(entries)
        : oneAtATime(
            Effect.suspend(() =>
              entries !== null ? Effect.succeed(entries) : Effect.map(Effect.uninterruptible(load), ({ now }) => now)
            )
          ).pipe(
            Effect.catchAll((problem) =>
              Effect.as(
                Effect.logWarning("The registered MCP servers could not be read", problem),
                new Map<string, Entry>()
              )
            )
          )
    )

    return { known: () => entries, loaded, reload, restart }
  })

export const make = Effect.gen(function* () {
  // Programs are ended side by side.
  const all = yield* Effect.acquireRelease(Scope.make(ExecutionStrategy.parallel), (scope) =>
    Scope.close(scope, Exit.void)
  )
  const listeners = new Set<(sees: Sees) => void>()
  const begin = yield* makeBegin(all)
  const { known, loaded, reload, restart } = yield* makeEntries(all, begin, (sees) => {
    for (const tell of listeners) tell(sees)
  })

  const tools = Effect.fn("Upstreams.tools")(function* (caller: Caller) {
    const found = usable(yield* loaded, caller)
    if (found.length === 0) return []
    const lists = yield* Effect.forEach(
      found,
      (entry) => Effect.map(entry.server.listed(listWaitMs), (list) => list.map((tool) => toolOf(entry, tool))),
      { concurrency: atOnce }
    )
    return lists.flat()
  })

  const tool = Effect.fn("Upstreams.tool")(function* (name: string, caller: Caller) {
    const parts = partsOf(name)
    if (parts === null) return null
    const entry = usable(yield* loaded, caller).find(({ row }) => row.name === parts.server)
    if (entry === undefined) return null
    const list = yield* entry.server.tools(entry.row.timeoutMs)
    const found = list.find((one) => one.name === parts.tool)
    if (found !== undefined) return toolOf(entry, found)
    return entry.server.state().tools === null ? downTool(entry, parts.tool) : null
  })

  const state = Effect.fn("Upstreams.state")((row: StoredMcpServer) =>
    Effect.map(loaded, (found) => (row.isEnabled ? (found.get(row.id)?.server.state() ?? idle) : off))
  )

  const probed = ({ server }: Entry) => Effect.map(Effect.ignore(server.probe), () => server.state())

  const test = Effect.fn("Upstreams.test")(function* (row: StoredMcpServer) {
    const known = (yield* loaded).get(row.id)
    if (known !== undefined) return yield* probed(known)
    const own = yield* Effect.acquireRelease(
      begin(row, () => {}),
      ({ scope }) => Scope.close(scope, Exit.void)
    )
    return yield* probed(own)
  }, Effect.scoped)

  return Upstreams.of({
    tools,
    tool,
    state,
    test,
    reload,
    restart,
    known: () =>
      [...(known()?.values() ?? [])].reduce((sum, { server }) => sum + (server.state().tools?.length ?? 0), 0),
    onChange: (listener) => void listeners.add(listener)
  })
})

export const layer: Layer.Layer<Upstreams, never, AppConfig | McpServerRepo | Timers | Upstream> = Layer.scoped(
  Upstreams,
  make
)
