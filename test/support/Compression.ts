/** The services of the compression of prompts, over a store and a configuration. */
import * as Layer from "effect/Layer"
import * as CompressionAnalytics from "../../src/compression/Analytics.ts"
import * as Profiles from "../../src/compression/Profiles.ts"
import * as RawOutputs from "../../src/compression/RawOutputs.ts"
import * as RtkFilters from "../../src/compression/rtk/RtkFilters.ts"
import * as Tokeniser from "../../src/tokens/Tokeniser.ts"

export const compression = Layer.mergeAll(CompressionAnalytics.layer, RtkFilters.layer, Profiles.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(RawOutputs.layer, Tokeniser.layer))
)
