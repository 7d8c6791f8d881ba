/** Models the operator declared or corrected. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ProviderModelInput } from "./routes.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import type { StoreError } from "../../store/Errors.ts"
import { type DeclaredModel, ProviderModelRepo } from "./repo.ts"
import { ConfigChanges } from "../ConfigChanges.ts"
import * as Errors from "../Errors.ts"

export class ProviderModels extends Context.Tag("gateway/subjects/models/ProviderModels")<
  ProviderModels,
  {
    /** Lists the models of one provider, or of all. */
    readonly list: (provider: string | null) => Effect.Effect<ReadonlyArray<DeclaredModel>, StoreError>
    /** Declares a model anew, whatever was declared before. */
    readonly declare: (input: ProviderModelInput) => Effect.Effect<DeclaredModel, Errors.InvalidInput | StoreError>
    /** Changes what is given. Changing a model that was only learned so far declares it. */
    readonly change: (input: ProviderModelInput) => Effect.Effect<DeclaredModel, Errors.InvalidInput | StoreError>
    readonly remove: (provider: string, modelId: string) => Effect.Effect<void, Errors.EntityNotFound | StoreError>
  }
>() {}

const undeclared = (provider: string, modelId: string): DeclaredModel => ({
  provider,
  modelId,
  name: null,
  contextLength: null,
  maxOutputTokens: null,
  capabilities: {},
  hidden: false
})

/** Lays what is given over what is there; null clears. */
export const changed = (before: DeclaredModel, input: ProviderModelInput): DeclaredModel => ({
  ...before,
  name: input.name === undefined ? before.name : input.name,
  contextLength: input.contextLength === undefined ? before.contextLength : input.contextLength,
  maxOutputTokens: input.maxOutputTokens === undefined ? before.maxOutputTokens : input.maxOutputTokens,
  capabilities: { ...before.capabilities, ...input.capabilities },
  hidden: input.hidden ?? before.hidden
})

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const repo = yield* ProviderModelRepo
  const { apply } = yield* ConfigChanges

  const providerId = (provider: string): Effect.Effect<string, Errors.InvalidInput> => {
    const spec = catalog.current().provider(provider)
    return spec === null ? Errors.unknownProvider(provider) : Effect.succeed(spec.id)
  }

  const save = Effect.fnUntraced(
    function* (model: DeclaredModel) {
      const existed = yield* repo.update(model)
      if (!existed) yield* repo.insert(model)
      return model
    },
    Effect.catchTag("AlreadyStored", Effect.die)
  )

  const list = Effect.fn("ProviderModels.list")((provider: string | null) =>
    Effect.map(repo.list, (models) => models.filter((model) => provider === null || model.provider === provider))
  )

  const declare = Effect.fn("ProviderModels.declare")(function* (input: ProviderModelInput) {
    return yield* save(changed(undeclared(yield* providerId(input.provider), input.modelId), input))
  }, apply)

  const change = Effect.fn("ProviderModels.change")(function* (input: ProviderModelInput) {
    const provider = yield* providerId(input.provider)
    const before = (yield* repo.get(provider, input.modelId)) ?? undeclared(provider, input.modelId)
    return yield* save(changed(before, input))
  }, apply)

  const remove = Effect.fn("ProviderModels.remove")(function* (given: string, modelId: string) {
    // A declaration may outlive its provider, so an unknown provider is looked up as it is.
    const provider = catalog.current().provider(given)?.id ?? given
    if (yield* repo.remove(provider, modelId)) return
    return yield* new Errors.EntityNotFound({ entity: "declared model", id: `${given}/${modelId}` })
  }, apply)

  return ProviderModels.of({ list, declare, change, remove })
})

export const layer: Layer.Layer<ProviderModels, never, Catalog | ConfigChanges | ProviderModelRepo> = Layer.effect(
  ProviderModels,
  make
)
