/** Pipelines of engines with names, and the settings of the engine for prose (docs/compression.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { CavemanSettings, CavemanSettingsInput, PipelineStep } from "../compression/entity/CompressionProfiles.ts"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { NotFoundAnswer } from "../../contract/Errors.ts"
import { exampleTime } from "../../contract/Examples.ts"
import { body, Name, optional } from "../../contract/Inputs.ts"

const exampleId = "6f1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"

export const CompressionComboView = Schema.Struct({
  id: field(Schema.String, "Id of the compression combo.", exampleId),
  name: field(Schema.String, "What `x-gateway-compression` names it by, whatever its case.", "logs"),
  pipeline: field(Schema.Array(PipelineStep), "The engines, one after the other.", [{ engine: "rtk" }]),
  isActive: field(
    Schema.Boolean,
    "Whether it is the active profile, which requests pass that say nothing else; at most one is.",
    false
  ),
  routingComboIds: field(Schema.Array(Schema.String), "Ids of the combos whose requests pass it.", []),
  createdAt: field(Schema.String, "When it was made, ISO 8601.", exampleTime),
  updatedAt: field(Schema.String, "When it was changed last, ISO 8601.", exampleTime)
}).annotations({ identifier: "CompressionCombo" })

const CompressionComboAnswer = Schema.Struct({ combo: field(CompressionComboView, "The compression combo.") })

export const CompressionComboList = Schema.Struct({
  combos: field(Schema.Array(CompressionComboView), "The compression combos, in the order in which they were made.")
}).annotations({ identifier: "CompressionComboList" })

const ComboInput = Schema.Struct({
  name: field(
    Name.pipe(Schema.maxLength(100)),
    "Its name. One named `off` or `default` is asked for by its id.",
    "logs"
  ),
  pipeline: field(
    Schema.Array(PipelineStep).pipe(Schema.minItems(1), Schema.maxItems(10)),
    "The engines, one after the other.",
    [{ engine: "rtk" }, { engine: "caveman", intensity: "lite" }]
  ),
  isActive: field(
    optional(Schema.Boolean),
    "Makes it the active profile in the place of the former; absent: false.",
    false
  )
})

const Assignments = Schema.Struct({
  routingComboIds: field(Schema.Array(Schema.String), "Ids of combos (`/api/combos`).", [])
}).annotations({ identifier: "CompressionAssignments" })

const AssignmentsInput = Schema.Struct({
  routingComboIds: field(
    Schema.Array(Schema.String).pipe(Schema.maxItems(1_000)),
    "Ids of combos (`/api/combos`) whose requests are to pass it; another compression combo loses them.",
    []
  )
})

const at = endpointsOf("compressionCombos", { id: ["Id of the compression combo.", exampleId] })

export class CompressionCombos extends HttpApiGroup.make("compressionCombos")
  .annotate(OpenApi.Title, "Compression combos")
  .annotate(OpenApi.Description, "Pipelines of engines with names, and which requests pass them.")
  .add(
    at("caveman", {
      summary: "Show the settings of caveman",
      description: "Whether a request is compressed at all is decided by `/api/settings/compression`."
    }).addSuccess(CavemanSettings)
  )
  .add(
    at("setCaveman", {
      summary: "Replace the settings of caveman",
      description: "What is absent has its default.",
      example: { intensity: "lite", roles: ["user", "assistant"] }
    })
      .setPayload(CavemanSettingsInput.annotations(body("ReplaceCavemanSettings")))
      .addSuccess(CavemanSettings)
  )
  .add(
    at("list", { summary: "List compression combos", description: "All of them; there are at most 100." }).addSuccess(
      CompressionComboList
    )
  )
  .add(
    at("create", {
      summary: "Make a compression combo",
      description: "From then on the header `x-gateway-compression` can name it.",
      example: { name: "logs", pipeline: [{ engine: "rtk" }] }
    })
      .setPayload(ComboInput.annotations(body("CreateCompressionCombo")))
      .addSuccess(CompressionComboAnswer, { status: 201 })
  )
  .add(
    at("get", { summary: "Show a compression combo", description: "By its id." })
      .addSuccess(CompressionComboAnswer)
      .addError(NotFoundAnswer)
  )
  .add(
    at("replace", {
      summary: "Replace a compression combo",
      description: "All but its assignments. Sessions under way keep what was already sent as it was.",
      example: { name: "logs", pipeline: [{ engine: "rtk" }, { engine: "caveman" }] }
    })
      .setPayload(ComboInput.annotations(body("ReplaceCompressionCombo")))
      .addSuccess(CompressionComboAnswer)
      .addError(NotFoundAnswer)
  )
  .add(
    at("remove", { summary: "Delete a compression combo", description: "And its assignments." })
      .addSuccess(Schema.Void, { status: 204 })
      .addError(NotFoundAnswer)
  )
  .add(
    at("assignments", {
      summary: "Show whose requests pass a compression combo",
      description: "Ids of routing combos."
    })
      .addSuccess(Assignments)
      .addError(NotFoundAnswer)
  )
  .add(
    at("assign", {
      summary: "Say whose requests pass a compression combo",
      description: "Replaces the list.",
      example: { routingComboIds: [] }
    })
      .setPayload(AssignmentsInput.annotations(body("AssignCompressionCombo")))
      .addSuccess(Assignments)
      .addError(NotFoundAnswer)
  ) {}
