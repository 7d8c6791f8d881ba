/**
 * Every known provider, in the order it is shown.
 *
 * Providers that give out API keys for programs, that run locally, or that take the tokens of an account its owner has
 * signed in. Left out on purpose: anything that works through a browser cookie or a cloned client identity, and offers whose
 * terms forbid to pass them on. Nor is a variable read (`env`) that also guards something else, such as a cloud
 * account or experiment tracking: it was not set to pay for models with it.
 */
import { checkedByTests } from "../../../kernel/DataFile.ts"
import type { ProviderCategory, ProviderSpec } from "../../../contract/domain/Provider.ts"
import enterprise from "./enterprise.yaml"
import { type Entry, specOf } from "./Entry.ts"
import films from "./films.yaml"
import free from "./free.yaml"
import frontier from "./frontier.yaml"
import gateways from "./gateways.yaml"
import images from "./images.yaml"
import imageServers from "./imageServers.yaml"
import inference from "./inference.yaml"
import local from "./local.yaml"
import oauth from "./oauth.yaml"
import regional from "./regional.yaml"
import search from "./search.yaml"

/** The data files, each with the category of its entries. */
export const registryFiles: ReadonlyArray<readonly [category: ProviderCategory, entries: unknown]> = [
  ["frontier", frontier],
  ["gateway", gateways],
  ["inference", inference],
  ["inference", images],
  ["inference", films],
  ["regional", regional],
  ["enterprise", enterprise],
  ["free", free],
  ["oauth", oauth],
  ["search", search],
  ["local", local],
  ["local", imageServers]
]

export const allProviders: ReadonlyArray<ProviderSpec> = registryFiles.flatMap(([category, entries]) =>
  checkedByTests<ReadonlyArray<Entry>>(entries).map(specOf(category))
)
