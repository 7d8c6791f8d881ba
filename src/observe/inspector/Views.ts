/** Views of records: conversations, comparisons, programs and archives. Large bodies are read in the thread. */
import * as Chunk from "effect/Chunk"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { TrafficRecord } from "../../contract/domain/TrafficRecord.ts"
import type { Timers } from "../../platform/Timers.ts"
import { version } from "../../platform/Version.ts"
import type { StoreError } from "../../store/Errors.ts"
import { withoutNotice } from "./Bodies.ts"
import type { AnswerDiff, ComparedAnswer } from "./diff/Answers.ts"
import type { BodyDiff } from "./diff/Diff.ts"
import { type CodeFormat, codeOf } from "./exports/CodeExport.ts"
import { harEntryOf, harPieces, jsonlPieces } from "./exports/Har.ts"
import { maxHarBytes } from "./exports/HarImport.ts"
import type { RecordFilter } from "./Filters.ts"
import type { Inspector, RecordNotFound } from "./Inspector.ts"
import { threadFromBytes } from "./Intake.ts"
import { maskRecord } from "./masking/MaskRecord.ts"
import type { Anatomy } from "./reading/Anatomy.ts"
import type { AttemptView, ConversationView, ReadableBody, ReadableExchange } from "./reading/Conversation.ts"
import { isRefusal } from "./reading/Reason.ts"
import { attemptOf, makeRetryCounter } from "./Retries.ts"
import type { Session, SessionNotFound } from "./Sessions.ts"
import { bytesOfView, type ShownRequest, type View, type ViewJob, viewOf } from "./work/ViewJobs.ts"

/** Error of bodies that made room for newer ones. */
export class BodyGone extends Data.TaggedError("BodyGone")<{ readonly id: string }> {}
/** A body is no JSON object, so that there is nothing to compare. */
export class NotComparable extends Data.TaggedError("NotComparable")<{}> {}
/** The thread has too much to do, or the bodies take too long. */
export class TooMuchWork extends Data.TaggedError("TooMuchWork")<{}> {}

/** The newest of a storm. */
const maxAttemptsShown = 100

type ViewError = RecordNotFound | BodyGone | TooMuchWork
export type Text = Stream.Stream<string, StoreError>

export interface Views {
  readonly conversation: (id: string) => Effect.Effect<ConversationView, ViewError>
  /** Reads the sections; there are none where the body is no JSON object. */
  readonly anatomy: (id: string) => Effect.Effect<Anatomy, ViewError>
  readonly diff: (id: string, otherId: string) => Effect.Effect<BodyDiff, ViewError | NotComparable>
  /** Compares the answers to two requests. */
  readonly answers: (id: string, otherId: string) => Effect.Effect<AnswerDiff, RecordNotFound | TooMuchWork>
  readonly code: (id: string, format: CodeFormat) => Effect.Effect<string, RecordNotFound>
  readonly har: (filter: RecordFilter) => Effect.Effect<Text>
  readonly jsonl: (filter: RecordFilter) => Effect.Effect<Text>
  /** `{session, requests}` as JSON. */
  readonly session: (id: string) => Effect.Effect<Text, SessionNotFound | StoreError>
  readonly sessionHar: (id: string) => Effect.Effect<Text, SessionNotFound | StoreError>
  readonly sessionJsonl: (id: string) => Effect.Effect<Text, SessionNotFound | StoreError>
  /** Bytes of an archive that can be imported. */
  readonly maxHarBytes: number
}

interface SessionRecords {
  readonly session: Session
  readonly records: Stream.Stream<TrafficRecord, StoreError>
}

type ViewName = View["view"]
type Of<V extends ViewName> = Extract<View, { readonly view: V }>["of"]

const requestOf = (record: TrafficRecord): ShownRequest => ({
  path: record.path,
  text: record.requestEncoding === "utf8" ? withoutNotice(record.requestBody ?? "") : "",
  isCut: record.requestTruncated,
  model: record.llm?.mappedTo ?? record.llm?.model ?? null
})

const readable = (
  body: string | null,
  encoding: "utf8" | "base64",
  headers: TrafficRecord["requestHeaders"],
  isCut: boolean
): ReadableBody | null =>
  body === null || encoding === "base64"
    ? null
    : { text: isCut ? withoutNotice(body) : body, contentType: headers["content-type"] ?? "", isCut }

const exchangeOf = (record: TrafficRecord): ReadableExchange => ({
  path: record.path,
  isRefused: isRefusal(record.status),
  request: readable(record.requestBody, record.requestEncoding, record.requestHeaders, record.requestTruncated),
  response: readable(record.responseBody, record.responseEncoding, record.responseHeaders, record.responseTruncated)
})

const answerOf = (record: TrafficRecord): ComparedAnswer => ({
  status: record.status,
  headers: record.responseHeaders,
  exchange: exchangeOf(record)
})

/** Parts with something before each but the first, and the whole in a frame. */
const framed = (before: string, parts: Text, after: string): Text =>
  Stream.concat(
    Stream.concat(
      Stream.make(before),
      Stream.map(Stream.zipWithIndex(parts), ([text, at]) => (at === 0 ? text : `,${text}`))
    ),
    Stream.make(after)
  )

const archive = (records: Stream.Stream<TrafficRecord, StoreError>): Text => {
  const [before = "", after = ""] = harPieces([], version)
  return framed(
    before,
    Stream.map(records, (record) => JSON.stringify(harEntryOf(record))),
    after
  )
}

const lines = (records: Stream.Stream<TrafficRecord, StoreError>): Text =>
  Stream.map(records, (record) => [...jsonlPieces([record])].join(""))

class RecordViews implements Views {
  readonly maxHarBytes = maxHarBytes
  readonly #inspector: typeof Inspector.Service
  readonly #timers: Pick<typeof Timers.Service, "soon">

  constructor(inspector: typeof Inspector.Service, timers: Pick<typeof Timers.Service, "soon">) {
    this.#inspector = inspector
    this.#timers = timers
  }

  readonly conversation: Views["conversation"] = (id) =>
    Effect.flatMap(this.#whole(id), (record) =>
      Effect.map(this.#viewed<"conversation">({ view: "conversation", exchange: exchangeOf(record) }), (view) => ({
        ...view,
        ...this.#attemptsOf(id)
      }))
    )

  readonly anatomy: Views["anatomy"] = (id) =>
    Effect.flatMap(this.#whole(id), (record) =>
      Effect.map(
        this.#viewed<"anatomy">({ view: "anatomy", request: requestOf(record) }),
        (anatomy) => anatomy ?? { sections: [], totalTokens: 0, tokensEstimated: true }
      )
    )

  readonly diff: Views["diff"] = (id, otherId) =>
    Effect.flatMap(Effect.all([this.#whole(id), this.#whole(otherId)]), ([one, other]) =>
      Effect.flatMap(
        this.#viewed<"diff">({ view: "diff", one: requestOf(one), other: requestOf(other) }),
        (diff): Effect.Effect<BodyDiff, NotComparable> => (diff === null ? new NotComparable() : Effect.succeed(diff))
      )
    )

  readonly answers: Views["answers"] = (id, otherId) =>
    Effect.flatMap(Effect.all([this.#inspector.get(id), this.#inspector.get(otherId)]), ([one, other]) =>
      this.#viewed<"answers">({ view: "answers", one: answerOf(one), other: answerOf(other) })
    )

  readonly code: Views["code"] = (id, format) => Effect.map(this.#inspector.get(id), (record) => codeOf(record, format))

  readonly har: Views["har"] = (filter) => Effect.map(this.#ofRing(filter), archive)

  readonly jsonl: Views["jsonl"] = (filter) => Effect.map(this.#ofRing(filter), lines)

  readonly session: Views["session"] = (id) =>
    Effect.map(this.#ofSession(id), ({ records, session }) =>
      framed(
        `{"session":${JSON.stringify(session)},"requests":[`,
        Stream.suspend(() => {
          const count = makeRetryCounter()
          return Stream.map(records, (record) => JSON.stringify({ ...maskRecord(record), ...count(attemptOf(record)) }))
        }),
        "]}"
      )
    )

  readonly sessionHar: Views["sessionHar"] = (id) => Effect.map(this.#ofSession(id), ({ records }) => archive(records))

  readonly sessionJsonl: Views["sessionJsonl"] = (id) =>
    Effect.map(this.#ofSession(id), ({ records }) => lines(records))

  /** Others have their turn between two records, each of which may be large. */
  #inTurns<E>(records: Stream.Stream<TrafficRecord, E>): Stream.Stream<TrafficRecord, E> {
    return Stream.tap(Stream.rechunk(records, 1), () =>
      Effect.promise(() => new Promise<void>((done) => this.#timers.soon(done)))
    )
  }

  /** Finds a record whose bodies are still there. */
  #whole(id: string): Effect.Effect<TrafficRecord, RecordNotFound | BodyGone> {
    return Effect.flatMap(this.#inspector.get(id), (record) =>
      record.bodyEvicted && record.requestBody === null ? new BodyGone({ id }) : Effect.succeed(record)
    )
  }

  #viewed<V extends ViewName>(job: Extract<ViewJob, { readonly view: V }>): Effect.Effect<Of<V>, TooMuchWork> {
    return Effect.suspend(() =>
      bytesOfView(job) <= threadFromBytes
        ? Effect.succeed(viewOf(job))
        : Effect.promise(() => this.#inspector.thread().run({ kind: "view", job }))
    ).pipe(
      // A job is answered with the view it asks for.
      Effect.flatMap((view) => (view === null ? new TooMuchWork() : Effect.succeed(view.of as Of<V>)))
    )
  }

  #ofRing(filter: RecordFilter): Effect.Effect<Stream.Stream<TrafficRecord>> {
    return Effect.map(this.#inspector.exported(filter), (records) => this.#inTurns(Stream.fromIterable(records)))
  }

  #ofSession(id: string): Effect.Effect<SessionRecords, SessionNotFound | StoreError> {
    const { flush, get, page } = this.#inspector.sessions
    return Effect.map(Effect.zipRight(flush, get(id)), (session) => ({
      session,
      records: this.#inTurns(
        Stream.paginateChunkEffect(0, (after) =>
          Effect.map(page(id, after), ({ next, records }) => [
            Chunk.unsafeFromArray([...records]),
            Option.fromNullable(next)
          ])
        )
      )
    }))
  }

  #attemptsOf(id: string): { readonly attempts?: ReadonlyArray<AttemptView> } {
    const all = this.#inspector.attempts(id)
    if (all.length < 2) return {}
    return {
      attempts: all
        .slice(-maxAttemptsShown)
        .map(({ attempt = 1, error, id, status, timestamp }) => ({ id, attempt, timestamp, status, error }))
    }
  }
}

export const makeViews = (inspector: typeof Inspector.Service, timers: Pick<typeof Timers.Service, "soon">): Views =>
  new RecordViews(inspector, timers)
