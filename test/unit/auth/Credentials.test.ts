import { assert, describe, it } from "@effect/vitest"
import { keyOf } from "../../../src/subjects/auth/Credentials.ts"

describe("Credentials.keyOf", () => {
  for (const [name, headers, url, expected] of [
    ["Bearer", { authorization: "Bearer k1" }, "/v1/models", "k1"],
    ["Bearer in any case, with blanks", { authorization: "  bearer   k1 " }, "/", "k1"],
    ["x-api-key", { "x-api-key": "k2" }, "/", "k2"],
    ["x-goog-api-key", { "x-goog-api-key": "k3" }, "/", "k3"],
    ["api-key", { "api-key": "k4" }, "/", "k4"],
    ["the parameter token", {}, "/x?token=k5", "k5"],
    ["the parameter apiKey", {}, "/x?a=1&apiKey=k6", "k6"],
    ["the parameter api_key", {}, "/x?api_key=k7", "k7"],
    ["the parameter key, decoded", {}, "/x?key=a%2Fb", "a/b"],
    ["Bearer before the others", { authorization: "Bearer k1", "x-api-key": "k2" }, "/?key=k3", "k1"],
    ["the next place when Bearer is empty", { authorization: "Bearer ", "x-api-key": "k2" }, "/", "k2"],
    ["nothing for an empty Bearer", { authorization: "Bearer" }, "/", null],
    ["nothing for another scheme", { authorization: "Basic abc" }, "/", null],
    ["nothing for a scheme that only begins so", { authorization: "Bearerish k" }, "/", null],
    ["nothing for empty values", { "x-api-key": " " }, "/?key=", null],
    ["a key in an editor's path", {}, "/api/v1/editor/gw_K8/models?key=k3", "gw_K8"],
    ["a key in the path alone", {}, "/api/v1/editor/gw_k8", "gw_k8"],
    ["a key in the path before all others", { authorization: "Bearer k1" }, "/api/v1/editor/gw_k8/models", "gw_k8"],
    ["a key in any spelling of the path", {}, "//API/v1/x/../%65ditor/gw%5Fk8/models", "gw_k8"],
    ["nothing where the path leads elsewhere", {}, "/api/v1/editor/gw_k8/../../../providers", null],
    ["nothing in other paths", {}, "/v1/editor/gw_k8/models", null],
    ["nothing where the key is missing", {}, "/api/v1/editor/", null],
    ["nothing", {}, "/v1/models", null]
  ] as const) {
    it(`reads ${name}`, () => assert.strictEqual(keyOf(headers, url), expected))
  }
})
