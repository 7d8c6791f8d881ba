/** Sorts settings by the strategy that they belong to, by what the API's document says of each. Pure. */
import type { FieldSchema } from "../../../forms/operations.ts"
import { strategies, type Strategy } from "../../../words/routing.ts"

/** Settings of a strategy whose description does not begin with its name. */
const more: Readonly<Partial<Record<Strategy, ReadonlyArray<string>>>> = {
  auto: ["weights", "modePack", "sla"],
  lkgp: ["lkgpEnabled"],
  fusion: ["fusionTuning"]
}

/** Older spellings of settings that are shown under their newer name, and keys of other gateways. */
const isHidden = (name: string, { description = "" }: FieldSchema): boolean =>
  name === "auto" || /^(?:is not supported|must be |sla-aware:)/u.test(description)

const belongsTo = (strategy: Strategy, name: string, { description = "" }: FieldSchema): boolean =>
  description.startsWith(`${strategy}:`) || (more[strategy]?.includes(name) ?? false)

const supported = (schema: FieldSchema): FieldSchema => ({
  ...schema,
  ...(schema.anyOf === undefined ? {} : { anyOf: schema.anyOf.map(supported) }),
  ...(schema.properties === undefined
    ? {}
    : {
        properties: Object.fromEntries(
          Object.entries(schema.properties)
            .filter(([, { description = "" }]) => !description.startsWith("is not supported"))
            .map(([name, member]) => [name, supported(member)])
        )
      })
})

const names = Object.keys(strategies) as ReadonlyArray<Strategy>

export interface StrategySettings {
  readonly own: FieldSchema
  /** Settings that count under any strategy. */
  readonly common: FieldSchema
}

export const settingsOf = (config: FieldSchema, strategy: Strategy): StrategySettings => {
  const own: Record<string, FieldSchema> = {}
  const common: Record<string, FieldSchema> = {}
  for (const [name, member] of Object.entries(config.properties ?? {})) {
    if (belongsTo(strategy, name, member)) own[name] = supported(member)
    else if (!isHidden(name, member) && !names.some((other) => belongsTo(other, name, member))) {
      common[name] = supported(member)
    }
  }
  return { own: { type: "object", properties: own }, common: { type: "object", properties: common } }
}
