/**
 * Builds the service's layers one after the other, in one scope. `Layer.build` makes a fiber, a scope, a lock and a deferred for each of
 * them, so that several can be built at once; with some 350 layers and combinations of layers that takes longer than all they do.
 *
 * It reads how a layer is put together, which Effect does not publish: what it does not know is left to Effect's own builder, so that
 * another version of Effect makes the start slower, not wrong. As there, a layer that is used in several places is built once.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

type Services = Context.Context<never>
/** The types of the parts are checked where they are put together; here they are only followed. */
type AnyLayer = Layer.Layer<never, never, never>
type Build = Effect.Effect<Services>

type Parts =
  | { readonly _op_layer: "FromEffect" | "Scoped"; readonly effect: Build }
  | { readonly _op_layer: "Suspend"; readonly evaluate: () => AnyLayer }
  | { readonly _op_layer: "Provide"; readonly first: AnyLayer; readonly second: AnyLayer }
  | {
      readonly _op_layer: "ProvideMerge"
      readonly first: AnyLayer
      readonly second: AnyLayer
      readonly zipK: (first: Services, second: Services) => Services
    }
  | { readonly _op_layer: "MergeAll"; readonly layers: ReadonlyArray<AnyLayer> }

const has = (layer: object, ...parts: ReadonlyArray<string>): boolean => parts.every((part) => part in layer)

/** Finds the parts of a layer; null where this module does not know its form. */
const partsOf = (layer: object): Parts | null => {
  if (!("_op_layer" in layer)) return null
  const known =
    layer._op_layer === "FromEffect" || layer._op_layer === "Scoped"
      ? has(layer, "effect")
      : layer._op_layer === "Suspend"
        ? has(layer, "evaluate")
        : layer._op_layer === "Provide"
          ? has(layer, "first", "second")
          : layer._op_layer === "ProvideMerge"
            ? has(layer, "first", "second", "zipK")
            : layer._op_layer === "MergeAll" && has(layer, "layers")
  return known ? (layer as Parts) : null
}

const makeBuilder = (scope: Scope.Scope, memoMap: Layer.MemoMap) => {
  const built = new Map<AnyLayer, Services>()

  const mergeAll = (layers: ReadonlyArray<AnyLayer>): Build =>
    Effect.map(Effect.forEach(layers, build), (contexts) => Context.mergeAll(...contexts))

  const construct = (layer: AnyLayer): Build => {
    const parts = partsOf(layer)
    switch (parts?._op_layer) {
      case "FromEffect":
        return parts.effect
      case "Scoped":
        // A scope of its own: what the layer acquires later, such as programs that the first request starts, is released when the layer is, and not
        // before what is built on it.
        return Effect.flatMap(Scope.fork(scope, ExecutionStrategy.sequential), (own) => Scope.extend(parts.effect, own))
      case "Suspend":
        return build(parts.evaluate())
      case "Provide":
        return Effect.flatMap(build(parts.first), (services) => Effect.provide(build(parts.second), services))
      case "ProvideMerge":
        return Effect.flatMap(build(parts.first), (first) =>
          Effect.map(build(parts.second), (second) => parts.zipK(first, second))
        )
      case "MergeAll":
        return mergeAll(parts.layers)
      case undefined:
        return Layer.buildWithMemoMap(layer, memoMap, scope)
    }
  }

  const build = (layer: AnyLayer): Build =>
    Effect.suspend(() => {
      const known = built.get(layer)
      if (known !== undefined) return Effect.succeed(known)
      return Effect.tap(construct(layer), (services) => void built.set(layer, services))
    })

  return build
}

/** Builds a layer; what it acquires is released with `scope`, in the reverse order. */
export const buildInOrder = <Out, E, In>(
  layer: Layer.Layer<Out, E, In>,
  scope: Scope.Scope
): Effect.Effect<Context.Context<Out>, E, In> =>
  Effect.flatMap(
    Layer.makeMemoMap,
    (memoMap) =>
      makeBuilder(scope, memoMap)(layer as unknown as AnyLayer) as unknown as Effect.Effect<Context.Context<Out>, E, In>
  )
