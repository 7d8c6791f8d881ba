/** The services of the compression of prompts, over a store and a configuration. */
import * as Layer from "effect/Layer"
import * as CompressionAnalytics from "../../src/plane/compression/Analytics.ts"
import * as Profiles from "../../src/plane/compression/Profiles.ts"
import * as RawOutputs from "../../src/plane/compression/RawOutputs.ts"
import * as RtkFilters from "../../src/plane/compression/rtk/RtkFilters.ts"
import * as Tokeniser from "../../src/plane/tokens/Tokeniser.ts"

export const compression = Layer.mergeAll(CompressionAnalytics.layer, RtkFilters.layer, Profiles.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(RawOutputs.layer, Tokeniser.layer))
)
