import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { buildInOrder } from "../../../src/app/LayerBuilder.ts"

class Store extends Context.Tag("test/Store")<Store, { readonly name: string }>() {}
class Users extends Context.Tag("test/Users")<Users, { readonly store: string }>() {}
class Orders extends Context.Tag("test/Orders")<Orders, { readonly store: string }>() {}
class Server extends Context.Tag("test/Server")<Server, { readonly over: string }>() {}

/** A small service whose parts say when they are acquired and released. */
const service = (events: Array<string>) => {
  const resource = (name: string) =>
    Effect.acquireRelease(
      Effect.sync(() => events.push(`+${name}`)),
      () => Effect.sync(() => events.push(`-${name}`))
    )
  const store = Layer.scoped(Store, Effect.as(resource("store"), { name: "sqlite" }))
  const overStore = Effect.map(Store, ({ name }) => ({ store: name }))
  const users = Layer.scoped(Users, Effect.zipLeft(overStore, resource("users"))).pipe(Layer.provide(store))
  const orders = Layer.effect(Orders, overStore).pipe(Layer.provideMerge(store))
  const server = Layer.scoped(
    Server,
    Effect.gen(function* () {
      const parts = [(yield* Users).store, (yield* Orders).store]
      yield* resource("server")
      return { over: parts.join() }
    })
  )
  return server.pipe(Layer.provideMerge(Layer.mergeAll(users, orders, store)))
}

type Built = Context.Context<Server | Users | Orders | Store>

const facts = (services: Built) => [
  Context.get(services, Server).over,
  Context.get(services, Users).store,
  Context.get(services, Orders).store,
  Context.get(services, Store).name
]

describe("buildInOrder", () => {
  it.effect("gives what Effect's own builder gives", () =>
    Effect.gen(function* () {
      const own = yield* Effect.scoped(Effect.flatMap(Effect.scope, (scope) => buildInOrder(service([]), scope)))
      const usual = yield* Effect.scoped(Layer.build(service([])))
      assert.deepStrictEqual(facts(own), facts(usual))
      assert.deepStrictEqual([...own.unsafeMap.keys()].toSorted(), [...usual.unsafeMap.keys()].toSorted())
    })
  )

  it.effect("releases what a layer acquires later with that layer, behind what is built on it", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const resource = (name: string) => Effect.addFinalizer(() => Effect.sync(() => events.push(`-${name}`)))
      class Lazy extends Context.Tag("test/Lazy")<Lazy, { readonly use: Effect.Effect<void> }>() {}
      const lazy = Layer.scoped(
        Lazy,
        Effect.map(Effect.scope, (own) => ({ use: Scope.extend(resource("what was lazy"), own) }))
      )
      const server = Layer.scopedDiscard(Effect.zipRight(Lazy, resource("server")))
      for (const build of [buildInOrder, Layer.buildWithScope]) {
        const scope = yield* Scope.make()
        const built = yield* build(Layer.provideMerge(server, lazy), scope)
        yield* Context.get(built, Lazy).use
        yield* Scope.close(scope, Exit.void)
      }
      assert.deepStrictEqual(events, ["-server", "-what was lazy", "-server", "-what was lazy"])
    })
  )

  it.effect("builds each layer once, and releases in the reverse order", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const scope = yield* Scope.make()
      yield* buildInOrder(service(events), scope)
      assert.deepStrictEqual(events, ["+store", "+users", "+server"])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(events.slice(3), ["-server", "-users", "-store"])
    })
  )

  it.effect("makes no fiber of its own for the layers it knows", () =>
    Effect.gen(function* () {
      const fiber = Effect.map(Effect.fiberId, (id) => ({ name: String(id) }))
      const layer = Layer.effect(
        Server,
        Effect.map(Effect.fiberId, (id) => ({ over: String(id) }))
      ).pipe(Layer.provideMerge(Layer.mergeAll(Layer.effect(Store, fiber), Layer.succeed(Users, { store: "" }))))
      const services = yield* Effect.scopedWith((scope) => buildInOrder(layer, scope))
      const here = String(yield* Effect.fiberId)
      assert.strictEqual(Context.get(services, Store).name, here)
      assert.strictEqual(Context.get(services, Server).over, here)
    })
  )

  it.effect("releases what was acquired when a later layer fails", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const fails = Layer.fail("disk full").pipe(Layer.provideMerge(service(events)))
      const exit = yield* Effect.exit(Effect.scopedWith((scope) => buildInOrder(fails, scope)))
      assert.deepStrictEqual(exit, Exit.fail("disk full"))
      assert.deepStrictEqual(events.slice(3), ["-server", "-users", "-store"])
    })
  )

  it.effect("leaves other layers to Effect's builder", () =>
    Effect.gen(function* () {
      const caught = Layer.catchAll(Layer.fail("gone") as Layer.Layer<Store, string>, () =>
        Layer.succeed(Store, { name: "memory" })
      )
      const unwrapped = Layer.unwrapEffect(Effect.succeed(Layer.succeed(Users, { store: "inner" })))
      const zipped = Layer.merge(caught, Layer.fresh(unwrapped))
      const services = yield* Effect.scopedWith((scope) => buildInOrder(zipped, scope))
      assert.strictEqual(Context.get(services, Store).name, "memory")
      assert.strictEqual(Context.get(services, Users).store, "inner")
    })
  )
})
