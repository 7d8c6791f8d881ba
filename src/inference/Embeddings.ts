/** Which models make embeddings, where no upstream and no operator tells: by the name. Pure. */

/** Families whose names do not say `embed`. */
const family =
  /embed|(?:^|[/_:-])(?:bge|gte|e5|minilm|mpnet|voyage|snowflake-arctic|jina-clip|jina-colbert|all-roberta|sentence-t5|stella|instructor)(?=$|[._:-]|\d)/i

/** Those of these families that rank or read instead. */
const other = /rerank|cross-?encoder|classif/i

export const isEmbeddingModel = (id: string): boolean => family.test(id) && !other.test(id)
