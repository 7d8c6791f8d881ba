import { assert, describe, it } from "@effect/vitest"
import {
  edgeRoute,
  edgeRouteAt,
  edgeRoutes,
  edgeRoutesAt,
  pathParameter,
  patternRoute
} from "../../../src/api/EdgeRoutes.ts"

describe("edge routes", () => {
  it("with a part of the request's own are found by method and shape", () => {
    assert.strictEqual(patternRoute("POST", "/v1/providers/openai/chat/completions")?.key, "inference.chat")
    assert.strictEqual(patternRoute("GET", "/v1/providers/openai/models")?.key, "inference.providerModels")
    assert.strictEqual(patternRoute("HEAD", "/api/v1/editor/gw_x/models")?.key, "inference.models")
    assert.strictEqual(patternRoute("GET", "/v1beta/models/a/b")?.key, "inference.geminiModel")
    assert.isNull(patternRoute("GET", "/v1/providers/openai/chat/completions"))
    for (const path of [
      "/v1/providers/openai",
      "/v1/providers/a/b/models",
      "/api/v1/editor",
      "/v1beta",
      "/v1/models"
    ]) {
      assert.isNull(patternRoute("GET", path), path)
    }
  })

  it("tell all methods of a path", () => {
    assert.sameMembers(
      edgeRoutesAt("/v1/embeddings").map(({ method }) => method),
      ["POST", "GET"]
    )
    assert.isNull(edgeRouteAt("/v1/nothing"))
  })

  it("name a key in the path only by its place", () => {
    const route = patternRoute("POST", "/api/v1/editor/gw_x/chat/completions")
    assert.strictEqual(route?.path, "/api/v1/editor/:token/chat/completions")
    if (route !== null) assert.strictEqual(pathParameter(route, ["api", "v1", "editor", "gw_X"], "token"), "gw_X")
    const plain = edgeRoute("POST", "/v1/chat/completions")
    if (plain !== null) assert.isNull(pathParameter(plain, ["v1"], "token"))
  })

  it("under an editor's key are inference routes, every one", () => {
    const under = edgeRoutes.filter(({ path }) => path.startsWith("/api/v1/editor/"))
    assert.isAbove(under.length, 10)
    assert.isTrue(under.every(({ tier }) => tier === "inference"))
  })
})
