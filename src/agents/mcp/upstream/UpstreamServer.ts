/**
 * One registered server: connected when it is first needed, its tools remembered, and left alone for a while after it failed. What it offers is
 * asked for anew when it is old, or when the server says that it has changed.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { makeFairPlaces } from "../../../kernel/collections/FairPlaces.ts"
import { identityOf } from "../Caller.ts"
import type { Timer, Timers } from "../../../platform/Timers.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import { RpcError } from "../protocol/JsonRpc.ts"
import { failed, type ToolCall, type ToolOutput } from "../Tool.ts"
import { type ForeignTool, mostTools, readPage, readResult } from "./ForeignTools.ts"
import { linkError, maxAnswerBytes, type OpenLink } from "./Link.ts"
import { connect, type Peer, type PeerError, type ServerInfo } from "./Peer.ts"
import { shared } from "./Shared.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

/**
 * - `off`: it is disabled.
 * - `idle`: it was not asked yet.
 * - `online`: its tools are known.
 * - `down`: it failed the last time.
 */
export type ServerStatus = "off" | "idle" | "online" | "down"

export interface ServerState {
  readonly status: ServerStatus
  /** A sentence without its name; null when it works, or was not asked. */
  readonly lastError: string | null
  /** Null: not known. */
  readonly tools: ReadonlyArray<ForeignTool> | null
  readonly info: ServerInfo | null
  /** Version of the protocol. */
  readonly version: string | null
  /** Time at which it answered last, epoch milliseconds. */
  readonly seenAtMs: number | null
}

export interface ServerOptions {
  readonly name: string
  readonly timeoutMs: number
  /** Time limit in ms of the connection and its handshake. */
  readonly connectMs: number
  /** The connection is closed when it was not used for so long; null: it stays. */
  readonly idleMs: number | null
  readonly open: OpenLink
  readonly allows: (tool: string) => boolean
  readonly scope: Scope.Scope
  readonly timers: Pick<typeof Timers.Service, "after" | "nowMs">
  /** Removes the secrets that the server was sent. */
  readonly scrub: (text: string) => string
  /** Called when its tools are others than before. */
  readonly onChange: () => void
}

export interface UpstreamServer {
  /** Lists its tools, waited for at most `waitMs`; empty while it is down. Never fails. */
  readonly tools: (waitMs: number) => Effect.Effect<ReadonlyArray<ForeignTool>>
  /**
   * Lists as `tools`, but a server that failed the last time is asked in the background, without waiting for it;
   * `onChange` is called when it is back.
   */
  readonly listed: (waitMs: number) => Effect.Effect<ReadonlyArray<ForeignTool>>
  readonly call: (tool: string, input: JsonObject, call: ToolCall) => Effect.Effect<ToolOutput>
  /** Asks for its tools now, whatever happened before. */
  readonly probe: Effect.Effect<void, PeerError>
  readonly state: () => ServerState
  readonly close: Effect.Effect<void>
}

export const serverLimits = {
  /** Tools are asked for again after so long. */
  toolsTtlMs: 60_000,
  /** Calls of one server that are in progress at once. */
  calls: 64,
  pages: 64,
  /** Pause in ms after the second failure in a row; doubled for each one more. */
  firstRetryMs: 1_000,
  mostRetryMs: 60_000,
  /** Time in ms after which failures are dropped. */
  forgetMs: 300_000,
  errorChars: 300
}

/** Describes the problem, behind the name of the server. */
export const sentenceOf = (error: PeerError, scrub: (text: string) => string): string =>
  error instanceof RpcError
    ? `answered with an error: ${scrub(error.message).slice(0, serverLimits.errorChars)}`
    : error.message

/** Computes the time in ms after which a server that failed so often is asked again. */
export const retryDelayMs = (failures: number): number =>
  failures <= 1 ? 0 : Math.min(serverLimits.mostRetryMs, serverLimits.firstRetryMs * 2 ** Math.min(failures - 2, 20))

const isOfConnection = (error: PeerError): boolean =>
  !(error instanceof RpcError) && error.reason !== "timeout" && error.reason !== "busy" && error.reason !== "invalid"

const isSessionGone = (error: PeerError): boolean => !(error instanceof RpcError) && error.reason === "gone"

/** Failures of a server in a row, and the rest that follows. */
class Failures {
  readonly #nowMs: () => number
  #count = 0
  #failedAtMs = 0
  #last: PeerError | null = null
  /** The last one as a sentence; null when the server works. */
  message: string | null = null

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** False: it was noted already. The end of a connection is reported by the connection, and by each request that was in progress. */
  note(error: PeerError, message: string): boolean {
    if (error === this.#last) return false
    this.#last = error
    const nowMs = this.#nowMs()
    this.#count = (nowMs - this.#failedAtMs > serverLimits.forgetMs ? 0 : this.#count) + 1
    this.#failedAtMs = nowMs
    this.message = message
    return true
  }

  forget(): void {
    this.#count = 0
  }

  leftMs(): number {
    return this.#failedAtMs + retryDelayMs(this.#count) - this.#nowMs()
  }

  isResting(): boolean {
    return this.message !== null && this.leftMs() > 0
  }
}

interface ConnectionEvents {
  readonly onToolsChanged: () => void
  readonly onDown: (error: PeerError) => Effect.Effect<void>
}

/** The connection to a server: made when it is first needed, and closed when it was not used for a while. */
const makeConnection = (
  { connectMs, idleMs, open, scope, timers }: ServerOptions,
  { onDown, onToolsChanged }: ConnectionEvents
) => {
  let peer: Peer | null = null
  let about: Pick<Peer, "info" | "version"> | null = null
  /** Calls and lists that are in progress. */
  let uses = 0
  let idle: Timer | null = null

  const drop = (one: Peer): Effect.Effect<void> => {
    if (peer === one) peer = null
    return Effect.asVoid(Effect.forkIn(one.close, scope))
  }

  const connecting = shared(
    Effect.gen(function* () {
      let own: Peer | null = null
      const made = yield* connect(
        open,
        {
          onToolsChanged,
          onEnd: (error) => {
            if (own !== null && peer === own) Effect.runFork(onDown(error))
          }
        },
        connectMs,
        scope
      )
      own = made
      peer = made
      about = made
      return made
    }),
    scope
  )
  const connected = Effect.suspend(() => (peer === null ? connecting : Effect.succeed(peer)))

  /** Begins the idle time anew; what is in progress then puts it off. */
  const used = (): void => {
    if (idleMs === null) return
    idle ??= timers.after(idleMs, () => {
      if (peer === null) return
      if (uses > 0) idle?.restart()
      else Effect.runFork(drop(peer))
    })
    idle.restart()
  }

  /** Tries again with one more connection where the session is gone. */
  const withPeer = <A>(use: (one: Peer) => Effect.Effect<A, PeerError>): Effect.Effect<A, PeerError> =>
    Effect.suspend(() => {
      uses += 1
      return Effect.flatMap(connected, (one) =>
        Effect.catchIf(use(one), isSessionGone, () => Effect.zipRight(drop(one), Effect.flatMap(connected, use)))
      )
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          uses -= 1
          used()
        })
      )
    )

  return {
    withPeer,
    about: () => about,
    drop: Effect.suspend(() => (peer === null ? Effect.void : drop(peer))),
    close: Effect.suspend(() => {
      idle?.cancel()
      return peer === null ? Effect.void : peer.close
    })
  }
}

const listOf = (
  { allows, timeoutMs }: ServerOptions,
  one: Peer
): Effect.Effect<ReadonlyArray<ForeignTool>, PeerError> =>
  Effect.gen(function* () {
    const found = new Map<string, ForeignTool>()
    let cursor: string | null = null
    let chars = 0
    for (let page = 0; page < serverLimits.pages && found.size < mostTools; page += 1) {
      const params: JsonObject = cursor === null ? {} : { cursor }
      const result = yield* one.request("tools/list", { params, timeoutMs, progress: null })
      chars += JSON.stringify(result).length
      if (chars > maxAnswerBytes) return yield* linkError("invalid", `has more than ${maxAnswerBytes} bytes of tools`)
      const read = readPage(result, allows)
      if (read === null) return yield* linkError("invalid", "answered without a list of tools")
      for (const tool of read.tools) {
        if (found.size < mostTools && !found.has(tool.name)) found.set(tool.name, tool)
      }
      if (read.nextCursor === null || read.nextCursor === cursor) break
      cursor = read.nextCursor
    }
    return [...found.values()]
  })

/** The tools of a server as they were last listed. */
const makeTools = (options: ServerOptions) => {
  const { onChange, scope, scrub, timeoutMs, timers } = options
  const failures = new Failures(timers.nowMs)
  let tools: ReadonlyArray<ForeignTool> | null = null
  let shown = ""
  let fetchedAtMs = 0
  let isStale = false
  let seenAtMs: number | null = null

  const show = (now: ReadonlyArray<ForeignTool> | null): void => {
    const text = JSON.stringify(now)
    tools = now
    if (text === shown) return
    shown = text
    onChange()
  }

  const down = (error: PeerError): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (!failures.note(error, sentenceOf(error, scrub))) return Effect.void
      const dropped = connection.drop
      show(null)
      return dropped
    })

  const connection = makeConnection(options, {
    onToolsChanged: () => {
      isStale = true
      onChange()
    },
    onDown: down
  })

  const refreshing = shared(
    Effect.gen(function* () {
      // What changes while it is asked is asked for again.
      isStale = false
      const found = yield* connection
        .withPeer((one) => listOf(options, one))
        .pipe(
          Effect.timeoutFail({
            duration: 2 * timeoutMs,
            onTimeout: () => linkError("timeout", `did not list its tools within ${(2 * timeoutMs) / 1_000} seconds`)
          })
        )
      fetchedAtMs = timers.nowMs()
      seenAtMs = fetchedAtMs
      failures.message = null
      show(found)
    }).pipe(Effect.tapError(down)),
    scope
  )

  const isFresh = (): boolean => !isStale && timers.nowMs() - fetchedAtMs < serverLimits.toolsTtlMs

  const known: UpstreamServer["tools"] = (waitMs) =>
    Effect.suspend(() => {
      if ((tools !== null && isFresh()) || failures.isResting()) return Effect.succeed(tools ?? [])
      return refreshing.pipe(
        Effect.timeout(waitMs),
        Effect.ignore,
        Effect.map(() => tools ?? [])
      )
    })

  const listed: UpstreamServer["listed"] = (waitMs) =>
    Effect.suspend(() => {
      if (failures.message === null) return known(waitMs)
      return Effect.as(Effect.forkIn(known(2 * timeoutMs), scope), tools ?? [])
    })

  return {
    connection,
    down,
    failures,
    known,
    listed,
    refreshing,
    answered: () => void (seenAtMs = timers.nowMs()),
    seen: () => ({ tools, seenAtMs })
  }
}

export const makeUpstreamServer = (options: ServerOptions): UpstreamServer => {
  const { name, scrub, timeoutMs } = options
  const { answered, connection, down, failures, known, listed, refreshing, seen } = makeTools(options)
  const places = makeFairPlaces(() => serverLimits.calls)

  const asked = (tool: string, input: JsonObject, { isProgressWanted, progress }: ToolCall) => {
    const params: JsonObject = { name: tool, arguments: input }
    return connection.withPeer((one) =>
      one.request("tools/call", { params, timeoutMs, progress: isProgressWanted ? progress : null })
    )
  }

  const call: UpstreamServer["call"] = (tool, input, how) =>
    Effect.suspend((): Effect.Effect<JsonObject, PeerError> => {
      if (failures.isResting())
        return linkError(
          "unreachable",
          `${failures.message ?? "failed"}; it is asked again in ${Math.ceil(failures.leftMs() / 1_000)} s`
        )
      const caller = identityOf(how.caller)
      const leave = places.enter(caller)
      if (leave === null) {
        const [all, own] = [places.taken(), places.takenBy(caller)]
        return linkError("busy", `has ${all} calls under way, ${own} of this caller, and takes no more of it now`)
      }
      return Effect.ensuring(asked(tool, input, how), Effect.sync(leave))
    }).pipe(
      Effect.flatMap((result): Effect.Effect<ToolOutput, PeerError> => {
        const output = readResult(result)
        if (output === null) return linkError("invalid", "answered with what is no result of a tool")
        answered()
        failures.forget()
        return Effect.succeed(output)
      }),
      Effect.tapError((error) => (isOfConnection(error) && !failures.isResting() ? down(error) : Effect.void)),
      Effect.catchAll((error) => Effect.succeed(failed(`'${name}' ${asSentence(sentenceOf(error, scrub))}`)))
    )

  return {
    tools: known,
    listed,
    call,
    probe: Effect.suspend(() => {
      failures.forget()
      return refreshing
    }),
    state: () => {
      const { seenAtMs, tools } = seen()
      const about = connection.about()
      const lastError = failures.message
      return {
        status: tools !== null ? "online" : lastError !== null ? "down" : "idle",
        lastError,
        tools,
        info: about?.info ?? null,
        version: about?.version ?? null,
        seenAtMs
      }
    },
    close: connection.close
  }
}
