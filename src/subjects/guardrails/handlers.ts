/** `/api/settings/guardrails` and `/api/guardrails/test`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Guardrails as GuardrailsGroup } from "./routes.ts"
import { Guardrails } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"

export const layer = HttpApiBuilder.group(contractOf(GuardrailsGroup), "guardrails", (handlers) =>
  Effect.map(Guardrails, (guardrails) =>
    handlers
      .handle("get", () => Effect.sync(guardrails.current))
      .handle("set", ({ payload }) => answered(guardrails.change(payload)))
      .handle("test", ({ payload }) => answered(guardrails.test(payload.text)))
  )
)
