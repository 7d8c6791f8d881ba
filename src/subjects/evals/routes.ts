/** Evaluations: suites of questions with expected answers, and runs of them over models and combos (docs/evals.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { evalStrategies, runStatuses, targetTypes } from "./entity.ts"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleTime } from "../../contract/Examples.ts"
import { Accepted, body, Created, Name, NoContent, optional, ReadOnly, Text } from "../../contract/Inputs.ts"

const caseWords = {
  name: ["What the case is about.", "capital"],
  messages: ["What is asked, as messages of the chat wire; the last one is the question."],
  strategy: [
    "How the answer is judged: `exact` and `contains` compare texts (blanks around them do not count, for `contains` neither does case), `regex` finds a pattern of RE2 syntax, `json` compares values.",
    "contains"
  ],
  value: ["What is expected: a text, for `json` any value.", "Paris"],
  tags: ["Words for people.", ["geography"]]
} as const

const Parts = Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown })).pipe(Schema.maxItems(20))

const Message = Schema.Struct({
  role: field(Schema.Literal("system", "user", "assistant"), "Who says it.", "user"),
  content: field(
    Schema.Union(Schema.String.pipe(Schema.maxLength(32_000)), Parts),
    "What is said: a text, or parts of the chat wire.",
    "What is the capital of France?"
  )
}).annotations({ identifier: "EvalMessage" })

const Messages = Schema.Array(Message).pipe(
  Schema.minItems(1, { message: () => "must have at least one message" }),
  Schema.maxItems(50, { message: () => "must have at most 50 messages" })
)

const Expected = Schema.Struct({
  strategy: field(Schema.Literal(...evalStrategies), ...caseWords.strategy),
  value: field(Schema.Unknown, ...caseWords.value)
}).annotations({ identifier: "EvalExpected" })

const Tags = Schema.Array(Name).pipe(Schema.maxItems(20, { message: () => "must have at most 20 tags" }))

const CaseInput = Schema.Struct({
  id: ReadOnly,
  name: field(Name, ...caseWords.name),
  input: field(Schema.Struct({ messages: field(Messages, ...caseWords.messages) }), "What is asked."),
  expected: field(Expected, "What the answer is compared with."),
  tags: field(optional(Tags), ...caseWords.tags)
}).annotations({ identifier: "EvalCaseInput" })

const Cases = Schema.Array(CaseInput).pipe(
  Schema.minItems(1, { message: () => "must have at least one case" }),
  Schema.maxItems(200, { message: () => "must have at most 200 cases" })
)

const CaseView = Schema.Struct({
  id: field(Schema.String, "Id of the case within its suite.", "case-1"),
  name: field(Schema.String, ...caseWords.name),
  input: field(
    Schema.Struct({
      messages: field(
        Schema.Array(
          Schema.Struct({
            role: field(Schema.String, "Who says it.", "user"),
            content: field(
              Schema.Union(Schema.String, Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown }))),
              "What is said.",
              "What is the capital of France?"
            )
          })
        ),
        ...caseWords.messages
      )
    }),
    "What is asked."
  ),
  expected: field(Expected, "What the answer is compared with."),
  tags: field(Schema.Array(Schema.String), ...caseWords.tags)
}).annotations({ identifier: "EvalCase" })

export const SuiteView = Schema.Struct({
  id: field(Schema.String, "Id of the suite.", "golden-set"),
  name: field(Schema.String, "Its name.", "Golden set"),
  builtIn: field(Schema.Boolean, "Whether it belongs to the program, and cannot be changed.", true),
  cases: field(Schema.Array(CaseView), "Its cases."),
  createdAt: field(Schema.NullOr(Schema.String), "When it was made, ISO 8601; null for a built-in one.", exampleTime),
  updatedAt: field(Schema.NullOr(Schema.String), "When it was last changed; null for a built-in one.", exampleTime)
}).annotations({ identifier: "EvalSuite" })
export type SuiteView = typeof SuiteView.Type

const targetWords = {
  type: ["What it is.", "model"],
  id: ["A model id, alias or automatic id; or the name or id of a combo.", "openai/gpt-4o-mini"]
} as const

const TargetView = Schema.Struct({
  type: field(Schema.Literal(...targetTypes), ...targetWords.type),
  id: field(Schema.String, ...targetWords.id)
}).annotations({ identifier: "EvalTarget" })

const TargetInput = Schema.Struct({
  type: field(Schema.Literal(...targetTypes), ...targetWords.type),
  id: field(Text.pipe(Schema.maxLength(300)), ...targetWords.id)
}).annotations({ identifier: "EvalTargetInput" })

const status = field(
  Schema.Literal(...runStatuses),
  "`failed`: it broke off, or no question was answered; `reason` says why.",
  "completed"
)
const passRate = field(Schema.Number, "The part of the asked cases that passed, from 0 to 1.", 0.83)

const Summary = Schema.Struct({
  total: field(Schema.Number, "Cases of the suite.", 6),
  passed: field(Schema.Number, "Cases that passed.", 5),
  failed: field(Schema.Number, "Cases that were asked and did not pass.", 1),
  passRate,
  costUsd: field(Schema.Number, "What the answers cost, as the usage log has it.", 0.00042),
  avgLatencyMs: field(Schema.NullOr(Schema.Number), "Milliseconds of a case, on average; null before the first.", 640)
}).annotations({ identifier: "EvalSummary" })

const runFields = {
  id: field(Schema.String, "Id of the run, in paths of this API.", exampleId),
  status,
  suiteId: field(Schema.String, "Id of the suite.", "golden-set"),
  suiteName: field(Schema.String, "The suite's name when it was run.", "Golden set"),
  target: field(TargetView, "What was asked."),
  apiKeyId: field(Schema.NullOr(Schema.String), "The API key in whose name it was asked.", null),
  comparedWith: field(Schema.NullOr(Schema.String), "Id of the run over the other target.", null),
  reason: field(Schema.NullOr(Schema.String), "Why it failed or was cancelled.", null),
  summary: field(Summary, "How it went; so far, while it runs."),
  startedAt: field(Schema.String, "When it began, ISO 8601.", exampleTime),
  finishedAt: field(Schema.NullOr(Schema.String), "When it ended; null while it runs.", exampleTime)
}

export const RunView = Schema.Struct(runFields).annotations({ identifier: "EvalRun" })
export type RunView = typeof RunView.Type

export const ResultView = Schema.Struct({
  id: field(Schema.String, "Id of the case.", "golden-set-1"),
  name: field(Schema.String, ...caseWords.name),
  passed: field(Schema.Boolean, "Whether the answer is what is expected.", true),
  latencyMs: field(Schema.Number, "Milliseconds until the answer.", 612),
  output: field(
    Schema.NullOr(Schema.String),
    "The first 8,000 characters of the answer; null without one, and for API keys with `noLog`.",
    "Paris"
  ),
  reason: field(Schema.NullOr(Schema.String), "Why it did not pass.", null),
  requestId: field(Schema.String, "Id of its usage row and decision record.", exampleId),
  provider: field(Schema.NullOr(Schema.String), "Who answered.", "openai"),
  model: field(Schema.NullOr(Schema.String), "The model that answered.", "gpt-4o-mini"),
  costUsd: field(Schema.Number, "What it cost.", 0.00007)
}).annotations({ identifier: "EvalResult" })
export type ResultView = typeof ResultView.Type

const Comparison = Schema.Struct({
  runId: field(Schema.String, "Id of the other run.", exampleId),
  status,
  target: field(TargetView, "What was asked there."),
  summary: field(Summary, "How it went there."),
  onlyHere: field(Schema.Array(Schema.String), "Ids of cases that passed here and not there.", ["golden-set-2"]),
  onlyThere: field(Schema.Array(Schema.String), "Ids of cases that passed there and not here.", [])
}).annotations({ identifier: "EvalComparison" })

export const RunReport = Schema.Struct({
  ...runFields,
  cases: field(Schema.Array(ResultView), "The cases that were asked so far, in the order of the suite."),
  comparison: field(Schema.NullOr(Comparison), "The run over the other target; null without one.", null)
}).annotations({ identifier: "EvalRunReport" })
export type RunReport = typeof RunReport.Type

const SuiteScore = Schema.Struct({
  id: field(Schema.String, "Id of the suite.", "golden-set"),
  name: field(Schema.String, "Its name.", "Golden set"),
  total: field(Schema.Number, "Cases.", 6),
  passed: field(Schema.Number, "Those that passed.", 5),
  passRate,
  runId: field(Schema.String, "The run.", exampleId),
  finishedAt: field(Schema.NullOr(Schema.String), "When it ended.", exampleTime)
}).annotations({ identifier: "EvalSuiteScore" })

const TargetScore = Schema.Struct({
  target: field(TargetView, "What was asked."),
  total: field(Schema.Number, "Cases of its suites.", 6),
  passed: field(Schema.Number, "Those that passed.", 5),
  passRate,
  avgLatencyMs: field(Schema.NullOr(Schema.Number), "Milliseconds of a case, on average.", 640),
  costUsd: field(Schema.Number, "What they cost.", 0.00042),
  suites: field(Schema.Array(SuiteScore), "By suite.")
}).annotations({ identifier: "EvalTargetScore" })
export type TargetScore = typeof TargetScore.Type

const Scorecard = Schema.Struct({
  total: field(Schema.Number, "Cases.", 6),
  passed: field(Schema.Number, "Those that passed.", 5),
  passRate,
  targets: field(Schema.Array(TargetScore), "By target, the best first.")
}).annotations({ identifier: "EvalScorecard" })

export const Overview = Schema.Struct({
  suites: field(Schema.Array(SuiteView), "The suites, the built-in ones first."),
  recentRuns: field(Schema.Array(RunView), "The last 20 runs, newest first."),
  scorecard: field(Scorecard, "The last complete run of each suite over each target.")
}).annotations({ identifier: "Evals" })

export const StartRun = Schema.Struct({
  suiteId: field(Text.pipe(Schema.maxLength(200)), "Id of the suite.", "golden-set"),
  target: field(TargetInput, "What is asked."),
  compareTarget: field(optional(TargetInput), "Another target that the same is asked."),
  apiKeyId: field(
    optional(Text.pipe(Schema.maxLength(200))),
    "The API key in whose name it is asked: its rules, budgets and token limits hold. Absent: nobody's.",
    exampleId
  )
}).annotations(body("StartEvalRun"))
export type StartRun = typeof StartRun.Type

const Begun = Schema.Struct({
  id: field(Schema.String, "Id of the run.", exampleId),
  status
}).annotations({ identifier: "EvalRunBegun" })

export const Started = Schema.Struct({
  run: field(Begun, "The run over the target."),
  compareRun: field(Schema.NullOr(Begun), "The run over the other target; null without one.", null)
}).annotations({ identifier: "EvalRunStarted" })

export const CreateSuite = Schema.Struct({
  name: field(Name, "Its name.", "Support questions"),
  cases: field(Cases, "1 to 200 cases, 256 KiB as JSON at most.")
}).annotations(body("CreateEvalSuite"))

export const UpdateSuite = Schema.Struct({
  name: field(optional(Name), "Its name.", "Support questions"),
  cases: field(optional(Cases), "All cases, in the place of those before."),
  id: ReadOnly,
  builtIn: ReadOnly,
  createdAt: ReadOnly,
  updatedAt: ReadOnly
}).annotations(body("UpdateEvalSuite"))

export const OneReport = Schema.Struct({ run: field(RunReport, "The run.") }).annotations({
  identifier: "EvalRunAnswer"
})
export const OneSuite = Schema.Struct({ suite: field(SuiteView, "The suite.") }).annotations({
  identifier: "EvalSuiteAnswer"
})

const at = endpointsOf("evals", { id: ["Id of the run or suite.", exampleId] })

export class Evals extends HttpApiGroup.make("evals")
  .annotate(OpenApi.Title, "Evaluations")
  .annotate(OpenApi.Description, "Suites of questions with expected answers, and runs of them over models and combos.")
  .add(
    at("overview", {
      summary: "List suites, runs and scores",
      description: "The suites with their cases, the last runs, and what they say about models and combos."
    }).addSuccess(Overview)
  )
  .add(
    at("start", {
      summary: "Run a suite",
      description:
        "Begins a run in the background and answers at once. Each case is a request through the whole gateway: with a usage row, a decision record and its cost.",
      example: { suiteId: "golden-set", target: { type: "model", id: "openai/gpt-4o-mini" } }
    })
      .setPayload(StartRun)
      .addSuccess(Accepted(Started))
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("run", { summary: "Show a run", description: "How a run went, case by case; so far, while it runs." })
      .addSuccess(OneReport)
      .addError(NotFoundAnswer)
  )
  .add(
    at("cancel", {
      summary: "Cancel a run",
      description: "Ends a run and the calls that it has under way. What is known of its cases is kept."
    })
      .addSuccess(OneReport)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("createSuite", {
      summary: "Create a suite",
      description: "Adds a suite of one's own; 50 at most.",
      example: {
        name: "Support questions",
        cases: [
          {
            name: "capital",
            input: { messages: [{ role: "user", content: "What is the capital of France? One word." }] },
            expected: { strategy: "contains", value: "Paris" }
          }
        ]
      }
    })
      .setPayload(CreateSuite)
      .addSuccess(Created(OneSuite))
      .addError(ConflictAnswer)
  )
  .add(
    at("suite", { summary: "Show a suite", description: "The suite with its cases." })
      .addSuccess(OneSuite)
      .addError(NotFoundAnswer)
  )
  .add(
    at("updateSuite", {
      summary: "Change a suite",
      description: "What is absent stays as it is. Runs under way go on with the cases they began with.",
      example: { name: "Support questions" }
    })
      .setPayload(UpdateSuite)
      .addSuccess(OneSuite)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("removeSuite", { summary: "Delete a suite", description: "Its runs stay." })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  ) {}
