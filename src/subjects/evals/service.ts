/** Evaluations for people who run the gateway: suites, runs, and what they say about models and combos. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { randomUUID } from "node:crypto"
import { makeLane } from "../../kernel/Lane.ts"
import { ApiKeys } from "../auth/ApiKeys.ts"
import { innerRefusalOf } from "../auth/KeyPolicy.ts"
import { keylessPrincipal, knownCallerOf } from "../auth/KnownCallers.ts"
import type { Principal } from "../keys/entity.ts"
import { describe, type FieldProblem } from "../../contract/domain/Errors.ts"
import type { EvalCase, EvalResult, EvalRun, EvalSuite, EvalTarget } from "./entity.ts"
import { resolveFor } from "../../plane/request/RequestedModel.ts"
import * as Errors from "../Errors.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import { Resolutions } from "../../plane/routing/resolve/Resolutions.ts"
import type { StoreError } from "../../store/Errors.ts"
import { EvalRepo } from "./repo.ts"
import { chat } from "../../wire/chat/Codec.ts"
import { builtInSuites } from "./BuiltInSuites.ts"
import { EvalRunner, maxRunning, mostKept, type PlannedCase } from "./EvalRunner.ts"
import { graderOf } from "./Graders.ts"
import { bodyOf } from "./Questions.ts"
import { type Scorecard, scorecardOf } from "./Scorecard.ts"

export interface Overview {
  /** Suites, those of the program first. */
  readonly suites: ReadonlyArray<EvalSuite>
  /** Newest first. */
  readonly recentRuns: ReadonlyArray<EvalRun>
  readonly scorecard: Scorecard
}

/** A run with its cases so far, and the run of the other target. */
export interface RunReport {
  readonly run: EvalRun
  readonly results: ReadonlyArray<EvalResult>
  readonly other: { readonly run: EvalRun; readonly results: ReadonlyArray<EvalResult> } | null
}

export interface RunRequest {
  readonly suiteId: string
  readonly target: EvalTarget
  readonly compareTarget?: EvalTarget
  readonly apiKeyId?: string
}

export interface WrittenCase extends Omit<EvalCase, "id" | "tags"> {
  readonly tags?: ReadonlyArray<string>
}

export interface WrittenSuite {
  readonly name: string
  readonly cases: ReadonlyArray<WrittenCase>
}

type Missing = Errors.EntityNotFound | StoreError

export class Evals extends Context.Tag("gateway/subjects/evals/Evals")<
  Evals,
  {
    readonly overview: Effect.Effect<Overview, StoreError>
    /** Begins a run, and with a second target another one beside it. */
    readonly start: (
      request: RunRequest,
      /** Caller whose ledger has it where no key is named. */
      starter: Principal
    ) => Effect.Effect<
      { readonly run: EvalRun; readonly compareRun: EvalRun | null },
      Errors.InvalidInput | Errors.StateConflict | Missing
    >
    readonly run: (id: string) => Effect.Effect<RunReport, Missing>
    /** Ends it, and answers when it has ended. */
    readonly cancel: (id: string) => Effect.Effect<RunReport, Errors.StateConflict | Missing>
    readonly createSuite: (
      input: WrittenSuite
    ) => Effect.Effect<EvalSuite, Errors.InvalidInput | Errors.StateConflict | StoreError>
    readonly suite: (id: string) => Effect.Effect<EvalSuite, Missing>
    /** Updates a suite; an absent member stays as it is. Running evaluations go on with the suite they began with. */
    readonly updateSuite: (
      id: string,
      input: Partial<WrittenSuite>
    ) => Effect.Effect<EvalSuite, Errors.InvalidInput | Errors.StateConflict | Missing>
    /** Removes a suite; its runs stay. */
    readonly removeSuite: (id: string) => Effect.Effect<void, Errors.StateConflict | Missing>
  }
>() {}

const mostRecent = 20
export const maxSuites = 50
/** Characters of a suite's cases as JSON. */
export const maxSuiteChars = 256 * 1_024

const isBuiltIn = (id: string): boolean => builtInSuites.some((suite) => suite.id === id)

/** Describes the first problem of a case, by the field. */
const problemOf = ({ expected, input }: WrittenCase, at: number): FieldProblem | null => {
  const place = `cases.${at}`
  const grader = graderOf(expected)
  if (Either.isLeft(grader)) return { field: `${place}.expected.value`, message: grader.left }
  const asked = bodyOf("model", input.messages)
  const checked = Either.flatMap(chat.checkEnvelope(asked), () => chat.decodeRequest(asked))
  if (Either.isRight(checked)) return null
  const { message, param } = checked.left
  // `messages[0].content` in the words of the chat wire.
  const inside = param === null ? "messages" : param.replaceAll("[", ".").replaceAll("]", "")
  return { field: `${place}.input.${inside}`, message }
}

const casesOf = (written: ReadonlyArray<WrittenCase>): ReadonlyArray<EvalCase> =>
  written.map(({ expected, input, name, tags = [] }, at) => ({ id: `case-${at + 1}`, name, input, expected, tags }))

const checkCases = (written: ReadonlyArray<WrittenCase>): Effect.Effect<void, Errors.InvalidInput> => {
  if (JSON.stringify(written).length > maxSuiteChars) {
    return Errors.invalid("cases", `must have at most ${maxSuiteChars} characters as JSON`)
  }
  return Errors.refuse(written.map(problemOf).filter((problem) => problem !== null))
}

const services = Effect.all({
  catalog: Catalog,
  keys: ApiKeys,
  repo: EvalRepo,
  resolutions: Resolutions,
  runner: EvalRunner
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly oneAtATime: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Runs a change without another one beside it. */
const alone = <A, E, R>(change: Effect.Effect<A, E, R>, { oneAtATime }: Deps) => oneAtATime(change)

const findSuite = Effect.fnUntraced(function* ({ repo }: Deps, id: string, field = "id") {
  const found = builtInSuites.find((suite) => suite.id === id) ?? (yield* repo.suite(id))
  return found ?? (yield* new Errors.EntityNotFound({ entity: "eval suite", id, field }))
})

const ownSuite = Effect.fnUntraced(function* (deps: Deps, id: string) {
  if (isBuiltIn(id)) {
    return yield* new Errors.StateConflict({
      code: "suite_read_only",
      message: `The suite '${id}' is built in and cannot be changed. Make one of your own with its cases.`
    })
  }
  return yield* findSuite(deps, id)
})

const principalFor = Effect.fnUntraced(function* ({ keys }: Deps, apiKeyId: string | undefined, starter: Principal) {
  if (apiKeyId === undefined) return keylessPrincipal(knownCallerOf(starter))
  const key = keys.get(apiKeyId)
  if (key === null) return yield* new Errors.EntityNotFound({ entity: "API key", id: apiKeyId, field: "apiKeyId" })
  const problem = innerRefusalOf(key, yield* Clock.currentTimeMillis, "chat")
  if (problem !== null) return yield* Errors.invalid("apiKeyId", problem)
  return { _tag: "Key", key } satisfies Principal
})

/** The target by the name that requests ask for. */
const targetFor = Effect.fnUntraced(function* (
  { catalog, resolutions }: Deps,
  principal: Principal,
  { id, type }: EvalTarget,
  field: string
) {
  const combo = [...catalog.current().combos.values()].find((each) => each.name === id || each.id === id)
  if (type === "combo" && combo === undefined) {
    return yield* new Errors.EntityNotFound({ entity: "combo", id, field: `${field}.id` })
  }
  const name = type === "combo" && combo !== undefined ? combo.name : id
  const resolved = resolveFor(resolutions, { principal, wire: "chat" }, name)
  if (!("_tag" in resolved)) return { type, id: name } satisfies EvalTarget
  if (resolved._tag === "ModelNotFound") {
    const { suggestions: meant } = resolved
    return yield* new Errors.EntityNotFound({ entity: "model", id, field: `${field}.id`, meant })
  }
  return yield* Errors.invalid(`${field}.id`, describe(resolved).message)
})

const start = Effect.fn("Evals.start")(function* (deps: Deps, request: RunRequest, starter: Principal) {
  const suite = yield* findSuite(deps, request.suiteId, "suiteId")
  const principal = yield* principalFor(deps, request.apiKeyId, starter)
  const target = yield* targetFor(deps, principal, request.target, "target")
  const other =
    request.compareTarget === undefined
      ? null
      : yield* targetFor(deps, principal, request.compareTarget, "compareTarget")
  const cases = suite.cases.flatMap((each): ReadonlyArray<PlannedCase> => {
    const grader = graderOf(each.expected)
    return Either.isRight(grader) ? [{ case: each, grade: grader.right }] : []
  })
  const nowMs = yield* Clock.currentTimeMillis
  const ids = other === null ? ([randomUUID(), null] as const) : ([randomUUID(), randomUUID()] as const)
  const runOf = (id: string, of: EvalTarget, comparedWith: string | null): EvalRun => ({
    id,
    suiteId: suite.id,
    suiteName: suite.name,
    target: of,
    apiKeyId: request.apiKeyId ?? null,
    caller: knownCallerOf(principal),
    comparedWith,
    status: "running",
    reason: null,
    total: cases.length,
    passed: 0,
    failed: 0,
    costNanoUsd: 0,
    latencyMs: 0,
    startedAtMs: nowMs,
    finishedAtMs: null
  })
  const run = runOf(ids[0], target, ids[1])
  const compareRun = other === null || ids[1] === null ? null : runOf(ids[1], other, ids[0])
  const runs = compareRun === null ? [run] : [run, compareRun]
  const begun = yield* deps.runner.start(runs.map((each) => ({ run: each, cases })))
  if (!begun) {
    return yield* new Errors.StateConflict({
      code: "too_many_runs",
      message: `At most ${maxRunning} evaluations run at once. Wait for one, or cancel it.`
    })
  }
  return { run, compareRun }
})

const partOf = Effect.fnUntraced(function* ({ repo }: Deps, id: string) {
  const run = yield* repo.run(id)
  return run === null ? null : { run, results: yield* repo.results(id) }
})

const report = Effect.fn("Evals.run")(function* (deps: Deps, id: string) {
  const found = yield* partOf(deps, id)
  if (found === null) return yield* new Errors.EntityNotFound({ entity: "eval run", id })
  const { comparedWith } = found.run
  return { ...found, other: comparedWith === null ? null : yield* partOf(deps, comparedWith) }
})

const cancel = Effect.fn("Evals.cancel")(function* (deps: Deps, id: string) {
  yield* report(deps, id)
  const wasRunning = yield* deps.runner.cancel(id)
  const after = yield* report(deps, id)
  return wasRunning && after.run.status === "cancelled"
    ? after
    : yield* new Errors.StateConflict({
        code: "run_is_over",
        message: `The run '${id}' is over: ${after.run.status}.`
      })
})

const createSuite = Effect.fn("Evals.createSuite")(function* ({ repo }: Deps, { cases, name }: WrittenSuite) {
  yield* checkCases(cases)
  if ((yield* repo.suites).length >= maxSuites) return yield* Errors.tooMany(maxSuites, "suites")
  const nowMs = yield* Clock.currentTimeMillis
  const suite: EvalSuite = {
    id: randomUUID(),
    name,
    cases: casesOf(cases),
    createdAtMs: nowMs,
    updatedAtMs: nowMs
  }
  yield* repo.saveSuite(suite)
  return suite
}, alone)

const updateSuite = Effect.fn("Evals.updateSuite")(function* (
  deps: Deps,
  id: string,
  { cases, name }: Partial<WrittenSuite>
) {
  const before = yield* ownSuite(deps, id)
  if (cases !== undefined) yield* checkCases(cases)
  const suite: EvalSuite = {
    ...before,
    name: name ?? before.name,
    cases: cases === undefined ? before.cases : casesOf(cases),
    updatedAtMs: yield* Clock.currentTimeMillis
  }
  yield* deps.repo.saveSuite(suite)
  return suite
}, alone)

const removeSuite = Effect.fn("Evals.removeSuite")(function* (deps: Deps, id: string) {
  yield* ownSuite(deps, id)
  yield* deps.repo.removeSuite(id)
}, alone)

export const make = Effect.gen(function* () {
  const all = yield* services
  // The number of suites is checked and one is added without another one in between.
  const oneAtATime = makeLane(1).inTurn
  const deps: Deps = { ...all, oneAtATime }

  return Evals.of({
    overview: Effect.gen(function* () {
      const runs = yield* all.repo.runs(mostKept)
      return {
        suites: [...builtInSuites, ...(yield* all.repo.suites)],
        recentRuns: runs.slice(0, mostRecent),
        scorecard: scorecardOf(runs)
      }
    }).pipe(Effect.withSpan("Evals.overview")),
    start: (request, starter) => start(deps, request, starter),
    run: (id) => report(deps, id),
    cancel: (id) => cancel(deps, id),
    createSuite: (suite) => createSuite(deps, suite),
    suite: (id) => findSuite(deps, id),
    updateSuite: (id, suite) => updateSuite(deps, id, suite),
    removeSuite: (id) => removeSuite(deps, id)
  })
})

export const layer: Layer.Layer<Evals, never, ApiKeys | Catalog | EvalRepo | EvalRunner | Resolutions> = Layer.effect(
  Evals,
  make
)
