// The matrix of run times as rows and columns: jobs, and what ran beside them. A colour always means the same: how much
// slower or faster than alone. Pure.

export const measures = {
  p50: { word: "Median", of: (pair) => pair.p50 },
  mean: { word: "Mean", of: (pair) => pair.mean },
  p95: { word: "95 %", of: (pair) => pair.p95 },
};

/** {rows: [{job, base, alone, cells: [pair or null]}], columns}: the column "" is without a neighbour. */
export function tableOf(matrix, measure) {
  const { of } = measures[measure];
  const jobs = [...new Set(matrix.pairs.map((each) => each.job))].sort();
  const neighbours = [...new Set(matrix.pairs.map((each) => each.neighbour))].filter(Boolean).sort();
  const columns = ["", ...neighbours];
  const pairs = new Map(matrix.pairs.map((each) => [`${each.job} ${each.neighbour}`, each]));
  const rows = jobs.map((job) => {
    const cells = columns.map((neighbour) => pairs.get(`${job} ${neighbour}`) ?? null);
    const alone = cells[0];
    // A job that never ran alone is compared with its fastest company.
    const base = alone ? of(alone) : Math.min(...cells.filter(Boolean).map(of));
    return { job, base, alone: alone !== null, cells: cells.map((pair) => (pair ? { ...pair, value: of(pair), ratio: base > 0 ? of(pair) / base : 1 } : null)) };
  });
  return { rows, columns };
}

/** -4 (much faster) to 4 (much slower); 0 within 3 %. Each step is about a fifth. */
export function heatOf(ratio) {
  const log = Math.log(ratio) / Math.log(1.2);
  if (Math.abs(ratio - 1) < 0.03) return 0;
  const step = Math.min(4, Math.max(1, Math.round(Math.abs(log))));
  return ratio > 1 ? step : -step;
}
