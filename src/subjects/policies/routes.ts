/** Addresses that have to wait before another login. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { body } from "../../contract/Inputs.ts"

const identifier = [
  "An address that tried too many passwords, or `*` for all addresses together.",
  "203.0.113.7"
] as const

const Locked = Schema.Struct({
  lockedIdentifiers: field(
    Schema.Array(Schema.String),
    "Addresses that have to wait before another login; `*`: all of them.",
    ["203.0.113.7"]
  )
}).annotations({ identifier: "LockedIdentifiers" })

const Unlock = Schema.Struct({
  action: field(Schema.Literal("unlock"), "What to do."),
  identifier: field(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(200)), ...identifier)
}).annotations(body("Unlock"))

const Unlocked = Schema.Struct({
  success: field(Schema.Literal(true), "It may log in again at once."),
  action: field(Schema.Literal("unlocked"), "What was done."),
  identifier: field(Schema.String, ...identifier)
}).annotations({ identifier: "Unlocked" })

const Cleared = Schema.Struct({
  success: field(Schema.Literal(true), "All may log in again at once."),
  cleared: field(Schema.Number, "How many had to wait.", 1)
}).annotations({ identifier: "LocksCleared" })

const at = endpointsOf("policies")

export class Policies extends HttpApiGroup.make("policies")
  .annotate(OpenApi.Title, "Login locks")
  .annotate(OpenApi.Description, "Who has to wait before another login.")
  .add(
    at("get", {
      summary: "List who has to wait before another login",
      description: "An address waits after several wrong passwords. The list is in memory: a start clears it."
    }).addSuccess(Locked)
  )
  .add(
    at("act", { summary: "Let an address log in again", description: "One that does not have to wait may be given." })
      .setPayload(Unlock)
      .addSuccess(Unlocked)
  )
  .add(
    at("clear", { summary: "Let every address log in again", description: "Empties the list." }).addSuccess(Cleared)
  ) {}
