/**
 * Every known provider, in the order it is shown.
 *
 * Providers that give out API keys for programs, that run locally, or that take the tokens of an account its owner has
 * signed in. Left out on purpose: anything that works through a browser cookie or a cloned client identity, and offers whose
 * terms forbid to pass them on. Nor is a variable read (`env`) that also guards something else, such as a cloud
 * account or experiment tracking: it was not set to pay for models with it.
 */
import type { ProviderSpec } from "../../../domain/Provider.ts"
import { enterprise } from "./enterprise.ts"
import { filmServices } from "./films.ts"
import { free } from "./free.ts"
import { frontier } from "./frontier.ts"
import { gateways } from "./gateways.ts"
import { imageServers, imageServices } from "./images.ts"
import { inference } from "./inference.ts"
import { localServers } from "./local.ts"
import { oauth } from "./oauth.ts"
import { regional } from "./regional.ts"
import { searchProviders } from "./search.ts"

export const allProviders: ReadonlyArray<ProviderSpec> = [
  ...frontier,
  ...gateways,
  ...inference,
  ...imageServices,
  ...filmServices,
  ...regional,
  ...enterprise,
  ...free,
  ...oauth,
  ...searchProviders,
  ...localServers,
  ...imageServers
]
