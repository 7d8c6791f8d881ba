/** The engine for outputs of commands: its settings, its filters, and the whole outputs that it left a part of (docs/compression.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { rtkLevels, RtkSettings, RtkSettingsInput } from "./entity.ts"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { NotFoundAnswer } from "../../contract/Errors.ts"
import { exampleKeyId, exampleTime } from "../../contract/Examples.ts"
import { body, optional, Text } from "../../contract/Inputs.ts"

const rawId = "4f1c0e2a9b7d4c3e8f6a5b1d"

export const RtkFilterView = Schema.Struct({
  id: field(Schema.String, "Id of the filter.", "git-status"),
  label: field(Schema.String, "The commands it is for.", "git status"),
  description: field(Schema.String, "What it leaves out.", "Without the hints on how to stage and restore."),
  category: field(Schema.String, "What the commands are about.", "git"),
  priority: field(Schema.Number, "Of several that match, the one with the greatest is used.", 50),
  source: field(
    Schema.Literal("project", "data", "built-in"),
    "Where it comes from: the project, `DATA_DIR/rtk/filters.json`, or this program.",
    "built-in"
  ),
  enabled: field(Schema.Boolean, "False: it is among `disabledFilters`.", true),
  tests: field(Schema.Number, "Tests that it brings with it.", 2),
  match: field(Schema.Unknown, "Which outputs it is for.", { commands: ["^git (?:-C \\S+ )?status\\b"] }),
  rules: field(Schema.Unknown, "What it does to them.", { dropPatterns: ['^ {2}\\(use "git '] }),
  preserve: field(Schema.Unknown, "Lines that it never removes.", { summaryPatterns: ["^Your branch"] })
}).annotations({ identifier: "RtkFilter" })

export const RtkFilterList = Schema.Struct({
  filters: field(Schema.Array(RtkFilterView), "The filters, in the order in which they are asked."),
  problems: field(
    Schema.Array(
      Schema.Struct({
        file: field(Schema.String, "The file.", "/data/rtk/filters.json"),
        filter: field(Schema.NullOr(Schema.String), "Id or place of the filter; null: the whole file.", "my-tool"),
        message: field(Schema.String, "What is wrong.", "rules.dropPatterns[0] has a repetition inside a repetition")
      })
    ),
    "What of the files of filters cannot be used; the rest is."
  )
}).annotations({ identifier: "RtkFilterList" })

export const RtkTest = Schema.Struct({
  text: field(
    optional(Schema.String.pipe(Schema.maxLength(1_048_576))),
    "An output to work on. Absent: the filters' own tests are run.",
    "On branch main\n…"
  ),
  command: field(
    optional(Text.pipe(Schema.maxLength(10_000))),
    "The command that wrote it. Absent: judged by how it looks.",
    "git status"
  ),
  level: field(optional(Schema.Literal(...rtkLevels)), "Absent: the setting's.", "standard"),
  filterId: field(optional(Text), "Only the tests of this filter.", "git-status"),
  filter: field(
    Schema.optionalWith(Schema.Unknown, { exact: true }),
    "A filter to try that is in no file: used before all others, its tests alone are run.",
    null
  )
}).annotations(body("RtkTest"))
export type RtkTest = typeof RtkTest.Type

export const RtkReport = Schema.Struct({
  passed: field(Schema.Number, "Tests that passed.", 2),
  failed: field(Schema.Number, "Tests that failed.", 0),
  results: field(
    Schema.Array(
      Schema.Struct({
        filter: field(Schema.String, "Id of the filter.", "git-status"),
        name: field(Schema.String, "What is tested.", "keeps conflicts"),
        passed: field(Schema.Boolean, "Whether it passed.", true),
        reason: field(Schema.NullOr(Schema.String), "Why it failed; null: it passed.", null)
      })
    ),
    "The tests that were run."
  ),
  output: field(
    Schema.NullOr(
      Schema.Struct({
        text: field(Schema.String, "What the engine makes of the text.", "On branch main"),
        filter: field(Schema.NullOr(Schema.String), "Id of the filter; null: the text is left as it is.", "git-status"),
        charsBefore: field(Schema.Number, "Characters of the text.", 800),
        charsAfter: field(Schema.Number, "Characters of the result.", 300)
      })
    ),
    "Null when no text was given. Nothing is stored of it."
  )
}).annotations({ identifier: "RtkReport" })

export const RawOutputView = Schema.Struct({
  id: field(Schema.String, "Id of the output, as it stands in the compressed text.", rawId),
  apiKeyId: field(
    Schema.NullOr(Schema.String),
    "Of whose request it was; null: of a caller without a key.",
    exampleKeyId
  ),
  createdAt: field(Schema.String, "When it was first kept, ISO 8601.", exampleTime),
  bytes: field(Schema.Number, "Bytes of the whole output as UTF-8.", 20_480),
  redacted: field(Schema.Boolean, "Whether secrets and personal data in it were replaced.", false),
  content: field(Schema.String, "The whole output.", "On branch main\n…")
}).annotations({ identifier: "RawOutput" })

const RawOutputQuery = Schema.Struct({
  redact: field(
    Schema.optionalWith(Schema.BooleanFromString, { exact: true }),
    "Replace secrets and personal data. Absent: the setting `redactRawOutput`.",
    true
  )
})

const at = endpointsOf("rtk", { id: ["Id of the output.", rawId] })

export class Rtk extends HttpApiGroup.make("rtk")
  .annotate(OpenApi.Title, "Outputs of commands")
  .annotate(
    OpenApi.Description,
    "The engine `rtk` leaves out of outputs of commands what says nothing. What failed, where and how much stays."
  )
  .add(
    at("config", {
      summary: "Show the settings of rtk",
      description: "Whether a request is compressed at all is decided by `/api/settings/compression`."
    }).addSuccess(RtkSettings)
  )
  .add(
    at("setConfig", {
      summary: "Replace the settings of rtk",
      description: "What is absent has its default. The files of filters are read again.",
      example: { level: "aggressive", maxLines: 80 }
    })
      .setPayload(RtkSettingsInput.annotations(body("ReplaceRtkSettings")))
      .addSuccess(RtkSettings)
  )
  .add(
    at("filters", {
      summary: "List the filters of rtk",
      description:
        "In the order in which they are asked, and what of the files of filters cannot be used. The files are read again."
    }).addSuccess(RtkFilterList)
  )
  .add(
    at("test", {
      summary: "Test the filters of rtk, or try one",
      description: "Runs the tests that filters bring with them; with `text` shows what is made of an output.",
      example: { command: "git status", text: "On branch main\n" }
    })
      .setPayload(RtkTest)
      .addSuccess(RtkReport)
      .addError(NotFoundAnswer)
  )
  .add(
    at("rawOutput", {
      summary: "Show a whole output",
      description: "The output of which a compressed request had a part, by the id that stands in that part."
    })
      .setUrlParams(RawOutputQuery)
      .addSuccess(RawOutputView)
      .addError(NotFoundAnswer)
  ) {}
