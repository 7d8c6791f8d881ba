/** `/api/provider-models`: models the operator declared or corrected. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { ProviderModels as ProviderModelsGroup } from "./routes.ts"
import type { ProviderModelView } from "./routes.ts"
import { ProviderModels } from "./service.ts"
import type { DeclaredModel } from "./repo.ts"
import { answered, badField } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"

const view = (model: DeclaredModel): ProviderModelView => ({ ...model, capabilities: { ...model.capabilities } })
const viewed = (model: DeclaredModel) => ({ model: view(model) })

export const layer = HttpApiBuilder.group(contractOf(ProviderModelsGroup), "providerModels", (handlers) =>
  Effect.map(ProviderModels, (models) =>
    handlers
      .handle("list", ({ urlParams }) =>
        Effect.map(
          Effect.flatMap(answered(models.list(urlParams.provider ?? null)), (all) =>
            paged(all, ({ modelId, provider }) => `${provider}/${modelId}`)
          ),
          ({ items, nextCursor, total }) => ({ models: items.map(view), nextCursor, total })
        )
      )
      .handle("create", ({ payload }) => answered(Effect.map(models.declare(payload), viewed)))
      .handle("update", ({ payload }) => answered(Effect.map(models.change(payload), viewed)))
      .handle("remove", ({ payload, urlParams }) => {
        const provider = urlParams.provider ?? payload?.provider
        const modelId = urlParams.modelId ?? payload?.modelId
        if (provider === undefined) return badField("provider", "is missing")
        if (modelId === undefined) return badField("modelId", "is missing")
        return answered(models.remove(provider, modelId))
      })
  )
)
