/** `/api/v1/providers/{provider}/limits` and `/api/v1/accounts/{id}/limits`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { IssueLimits as IssueLimitsGroup } from "./routes.ts"
import type { IssueScope } from "../registeredKeys/entity.ts"
import { IssueLimits, type IssueStanding } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"

const providerView = ({ scope: _scope, subject, ...standing }: IssueStanding) => ({ provider: subject, ...standing })
const accountView = ({ scope: _scope, subject, ...standing }: IssueStanding) => ({ accountId: subject, ...standing })

const ofProvider = ({ provider }: { readonly provider: string }): IssueScope => ({
  scope: "provider",
  subject: provider
})
const ofAccount = ({ id }: { readonly id: string }): IssueScope => ({ scope: "account", subject: id })

export const layer = HttpApiBuilder.group(contractOf(IssueLimitsGroup), "issueLimits", (handlers) =>
  Effect.map(IssueLimits, (limits) =>
    handlers
      .handle("provider", ({ path }) => answered(Effect.map(limits.get(ofProvider(path)), providerView)))
      .handle("setProvider", ({ path, payload }) =>
        answered(Effect.map(limits.set(ofProvider(path), payload), providerView))
      )
      .handle("removeProvider", ({ path }) => answered(limits.remove(ofProvider(path))))
      .handle("account", ({ path }) => answered(Effect.map(limits.get(ofAccount(path)), accountView)))
      .handle("setAccount", ({ path, payload }) =>
        answered(Effect.map(limits.set(ofAccount(path), payload), accountView))
      )
      .handle("removeAccount", ({ path }) => answered(limits.remove(ofAccount(path))))
  )
)
