/** Requests whose answer is taken to be the same each time. Pure. */
import type { WireName } from "../../../contract/domain/Wire.ts"
import { isObject, type JsonObject } from "../../../wire/json/Json.ts"
import type { Exchange } from "../../request/Exchange.ts"

/** Temperature above which models vary their answers. */
export const maxTemperature = 0.1

/** Kinds of requests that models compute without drawing lots. */
const computed: ReadonlySet<string> = new Set(["embeddings", "rerank", "moderations"])

/** The object that holds the temperature, where it is not the body. */
const settingsIn: Readonly<Record<WireName, ReadonlyArray<string>>> = {
  chat: [],
  messages: [],
  responses: [],
  gemini: ["generationConfig", "generation_config"],
  ollama: ["options"]
}

const temperatureOf = (wire: WireName, body: JsonObject): unknown => {
  const names = settingsIn[wire]
  if (names.length === 0) return body["temperature"]
  for (const name of names) {
    const settings = body[name]
    if (isObject(settings)) return settings["temperature"]
  }
  return undefined
}

/** Hot. Without a temperature the model's own holds, which is above the limit. */
export const isDeterministic = ({ codec, wire }: Pick<Exchange, "codec" | "wire">, body: JsonObject): boolean => {
  if (codec.endpoint !== undefined) return computed.has(codec.endpoint)
  const temperature = temperatureOf(wire, body)
  return typeof temperature === "number" && temperature >= 0 && temperature <= maxTemperature
}
