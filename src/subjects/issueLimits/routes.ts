/** Limits on the keys that programs may register, by provider and by account. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { NotFoundAnswer } from "../../contract/Errors.ts"
import { exampleId } from "../../contract/Examples.ts"
import { body, clearable, NoContent } from "../../contract/Inputs.ts"
import { observed } from "../../kernel/Observed.ts"

const words = {
  maxActiveKeys: ["Most keys that work at the same time; null: no limit.", 5],
  dailyIssueLimit: ["Most keys that are issued in any 24 hours; null: no limit.", 20],
  hourlyIssueLimit: ["Most keys that are issued in any hour; null: no limit.", 10]
} as const

const Most = Schema.Int.pipe(Schema.between(0, 1_000_000))
const Limit = Schema.NullOr(Schema.Number)

export const SetIssueLimits = Schema.Struct({
  maxActiveKeys: field(clearable(Most), ...words.maxActiveKeys),
  dailyIssueLimit: field(clearable(Most), ...words.dailyIssueLimit),
  hourlyIssueLimit: field(clearable(Most), ...words.hourlyIssueLimit)
}).annotations(body("SetIssueLimits"))

const standing = {
  maxActiveKeys: field(Limit, ...words.maxActiveKeys),
  dailyIssueLimit: field(Limit, ...words.dailyIssueLimit),
  hourlyIssueLimit: field(Limit, ...words.hourlyIssueLimit),
  activeKeys: observed(Schema.Number, "Keys that work now.", 2),
  dailyIssued: observed(Schema.Number, "Keys issued in the last 24 hours, those that were deleted since too.", 4),
  hourlyIssued: observed(Schema.Number, "Keys issued in the last hour, those that were deleted since too.", 1)
}

const ProviderLimits = Schema.Struct({
  provider: field(Schema.String, "Id of the provider.", "openai"),
  ...standing
}).annotations({ identifier: "ProviderIssueLimits" })

const AccountLimits = Schema.Struct({
  accountId: field(Schema.String, "Id of the connection.", exampleId),
  ...standing
}).annotations({ identifier: "AccountIssueLimits" })

const at = endpointsOf("issueLimits", {
  provider: ["Id of the provider, or prefix of a node.", "openai"],
  id: ["Id of the connection.", exampleId]
})

const example = { maxActiveKeys: 50, dailyIssueLimit: 200, hourlyIssueLimit: 100 }

export class IssueLimits extends HttpApiGroup.make("issueLimits")
  .annotate(OpenApi.Title, "Limits on registered keys")
  .annotate(
    OpenApi.Description,
    "How many keys programs may register. Both the limits of the provider and those of the connection hold; keys that people make are not counted."
  )
  .add(
    at("provider", { summary: "Show a provider's limits", description: "With what counts against them now." })
      .addSuccess(ProviderLimits)
      .addError(NotFoundAnswer)
  )
  .add(
    at("setProvider", {
      summary: "Set a provider's limits",
      description: "What is absent stays as it is, null takes a limit away. Keys that were issued stay.",
      example
    })
      .setPayload(SetIssueLimits)
      .addSuccess(ProviderLimits)
      .addError(NotFoundAnswer)
  )
  .add(
    at("removeProvider", { summary: "Remove a provider's limits", description: "All three." })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  )
  .add(
    at("account", { summary: "Show a connection's limits", description: "With what counts against them now." })
      .addSuccess(AccountLimits)
      .addError(NotFoundAnswer)
  )
  .add(
    at("setAccount", {
      summary: "Set a connection's limits",
      description: "What is absent stays as it is, null takes a limit away. Keys that were issued stay.",
      example
    })
      .setPayload(SetIssueLimits)
      .addSuccess(AccountLimits)
      .addError(NotFoundAnswer)
  )
  .add(
    at("removeAccount", { summary: "Remove a connection's limits", description: "All three." })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  ) {}
