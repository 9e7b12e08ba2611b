// The style sheet of the pages, allowed by its hash: system fonts, light and dark colours, one sheet of paper in print.
import { customProperties, palette } from '@lead-scoring/charts';

export const style = `
:root{color-scheme:light dark;${customProperties(palette.light)}}
@media screen and (prefers-color-scheme:dark){:root{${customProperties(palette.dark)}}}
*{box-sizing:border-box;margin:0;padding:0}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{font:1.0625rem/1.6 -apple-system,BlinkMacSystemFont,"Segoe UI Variable Text","Segoe UI",Roboto,Inter,"Noto Sans",system-ui,sans-serif;background:var(--back);color:var(--ink);overflow-wrap:anywhere;padding:0 clamp(1.1rem,5vw,3rem)}
body>*{max-width:60rem;margin-inline:auto}
a{color:var(--accent);text-underline-offset:.18em;text-decoration-thickness:1px}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px;border-radius:4px}
.vh{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.top{display:flex;flex-wrap:wrap;gap:.2rem 1.5rem;justify-content:space-between;align-items:center;padding-block:1.6rem;font-size:.875rem;color:var(--dim)}
.brand{display:flex;align-items:center;gap:.65rem;font-weight:600;color:var(--ink)}
.brand svg{width:1.4rem;height:1.4rem}
.gain{fill:var(--gain-bar)}.loss{fill:var(--loss-bar)}
h1,h2{line-height:1.2;letter-spacing:-.02em;font-weight:650;text-wrap:balance}
h1{font-size:1.9rem}h1.long{font-size:1.35rem;letter-spacing:-.01em}h1.longer{font-size:1.05rem;letter-spacing:0;line-height:1.4;text-wrap:wrap}
h2{font-size:1.3rem}
.eyebrow{display:block;font-size:.875rem;font-weight:500;letter-spacing:0;color:var(--dim);margin-bottom:.35rem}
.hero{display:grid;grid-template-columns:minmax(0,1.15fr) minmax(0,1fr);gap:clamp(1.5rem,4vw,3.5rem);background:var(--card);border:1px solid var(--line);border-radius:20px;padding:clamp(1.4rem,4.5vw,3rem)}
.score{display:flex;flex-wrap:wrap;align-items:flex-end;gap:.5rem 1.1rem;margin:1.1rem 0 1.2rem;color:var(--dim)}
.score b{font-size:clamp(4.5rem,13vw,7rem);line-height:.84;margin-left:-.045em;font-weight:700;letter-spacing:-.05em;color:var(--ink);font-variant-numeric:tabular-nums}
.score>span{display:grid;justify-items:start;gap:.45rem;line-height:1;min-width:0}
.score b.long{font-size:clamp(2.2rem,7vw,3.4rem);letter-spacing:-.03em}.score .long+span{display:flex;flex-flow:row-reverse wrap;justify-content:flex-end;align-items:center;gap:.4rem .9rem}
.level{display:inline-flex;align-items:center;gap:.5rem;padding:.2rem .85rem;border:1px solid var(--line);border-radius:99px;color:var(--ink);font-weight:600;font-size:.95rem;line-height:1.4}
.level svg{width:.7rem;height:.7rem;flex:none}.level circle{stroke:var(--zero);stroke-width:1}
.dim{color:var(--dim)}.small{font-size:.9rem;line-height:1.55}
.hero p+.small{margin-top:.8rem}
.receipt{align-self:center}
.receipt h2{font-size:1rem;letter-spacing:0;margin-bottom:.5rem}
.receipt dl{font-variant-numeric:tabular-nums}
.receipt div{display:flex;justify-content:space-between;align-items:baseline;gap:1rem;padding:.62rem 0;border-top:1px solid var(--line)}
.receipt dt{color:var(--dim);line-height:1.35}.receipt dd{font-weight:600;white-space:nowrap}
.receipt .total{border-top:2px solid var(--ink)}.receipt .total dt{color:var(--ink);font-weight:650}.receipt .total dd{font-size:1.25rem;font-weight:700}
.plus{color:var(--gain)}.minus{color:var(--loss)}
.part{margin-top:clamp(2.6rem,6vw,4rem)}
.part>p{max-width:42rem;margin-top:.4rem}
.drivers{list-style:none;margin-top:1.3rem;border-bottom:1px solid var(--line);display:grid;grid-template-columns:minmax(0,17rem) minmax(0,1fr) auto;column-gap:1.6rem}
.drivers li{display:grid;grid-template-columns:subgrid;grid-column:1/-1;align-items:center;padding:.68rem 0;border-top:1px solid var(--line);overflow:hidden}
.drivers .what{line-height:1.35}.what b{font-weight:600}
.what span{display:block;font-size:.875rem;color:var(--dim);line-height:1.4;margin-top:.1rem}
.bar{display:block;width:100%;height:1rem;overflow:visible}
.bar line{stroke:var(--zero);stroke-width:1.5}
.sum{text-align:right;font-variant-numeric:tabular-nums;color:var(--dim);white-space:nowrap}
.sum b{display:inline-block;min-width:3.2rem;font-weight:650}
.drivers .axis{padding:.3rem 0;font-size:.8rem;border-top:0;overflow:visible}
.axis text{fill:var(--dim);font-size:.8rem}
.more{margin-top:.9rem}
.course{margin-top:1.6rem}
.plot{display:block;width:calc(100% - 2.9rem);height:11rem;margin-left:2.9rem;overflow:visible;font-variant-numeric:tabular-nums}
.plot text{fill:var(--dim);font-size:.8rem}
.plot line{stroke:var(--line)}.plot .zero{stroke:var(--zero)}
.plot .area{fill:var(--glow)}.plot .path{fill:none;stroke:var(--accent);stroke-width:2.5;stroke-linejoin:round;vector-effect:non-scaling-stroke}
.plot circle{fill:var(--accent);stroke:var(--back);stroke-width:3}
.dates{display:flex;justify-content:space-between;margin:.5rem 0 0 2.9rem;font-size:.8rem;color:var(--dim)}
details{margin-top:1rem}summary{cursor:pointer;color:var(--accent);font-size:.9rem;width:fit-content;padding:.2rem 0}
table{border-collapse:collapse;margin-top:.6rem;font-size:.9rem;font-variant-numeric:tabular-nums;width:100%;max-width:28rem}
th,td{text-align:left;padding:.4rem 1rem .4rem 0;border-bottom:1px solid var(--line);font-weight:400}th:last-child,td:last-child{text-align:right;padding-right:0}thead th{color:var(--dim)}
.pair{display:grid;grid-template-columns:minmax(0,1.4fr) minmax(0,1fr);gap:clamp(2rem,5vw,4rem)}
.pair .part{margin-top:0}
.weights{list-style:none;display:flex;flex-wrap:wrap;gap:.55rem;margin-top:1rem}
.weights li{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.3rem .8rem;font-size:.9rem;max-width:100%}
.changes{display:block}.changes li+li{margin-top:.45rem}.changes time{display:block}
.weights bdi{min-width:0}.weights b{font-weight:650;font-variant-numeric:tabular-nums;margin-left:.45rem;white-space:nowrap}
.foot{margin-top:clamp(2.6rem,6vw,4rem);padding:1.6rem 0 3rem;border-top:1px solid var(--line);font-size:.875rem;color:var(--dim);display:flex;flex-wrap:wrap;gap:.8rem 2.5rem;justify-content:space-between}
.foot ul{list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.4rem}.foot a{display:inline-block;padding:.15rem 0}
.notice{min-height:70vh;min-height:70svh;display:grid;align-content:center;justify-items:start;padding-block:3rem;gap:1.1rem}
.notice>svg{width:6.5rem;height:6.5rem;margin:0 0 .4rem -.6rem}.notice>svg rect{fill:none;stroke:var(--zero);stroke-width:.45;stroke-dasharray:1.1 .9}
.notice h1{font-size:clamp(2rem,6vw,3rem)}.notice p,.notice ul{max-width:36rem}.notice ul{padding-left:1.2rem}.notice .lead{font-size:1.2rem;line-height:1.5}
.notice code{overflow-wrap:anywhere}button{font:inherit;border:0;cursor:pointer}.button{display:inline-block;margin-top:.4rem;padding:.6rem 1.3rem;border-radius:10px;background:var(--ink);color:var(--back);text-decoration:none;font-weight:600}
@media (max-width:46rem){
.hero,.pair{grid-template-columns:minmax(0,1fr)}
h1{font-size:1.6rem}
.drivers{display:block}.drivers li{display:flex;flex-wrap:wrap;gap:.45rem 1rem}.drivers .what{flex:1 1 10rem}.drivers .sum{margin-left:auto}.drivers .bar{order:1;overflow:hidden}.drivers .axis{display:block}.drivers .axis .bar{overflow:visible}
.sum b{min-width:0}
}
@media (forced-colors:active){.gain,.loss,.plot circle{fill:CanvasText}.plot .path{stroke:CanvasText}.button{border:1px solid;background:Canvas;color:LinkText}}
@page{size:A4;margin:10mm 14mm}
@media print{
:root{color-scheme:light;--back:#fff}
html{font-size:8.2pt}html.roomy{font-size:9.8pt}
body{padding:0;font-size:1rem;line-height:1.4;print-color-adjust:exact;-webkit-print-color-adjust:exact}
body>*{max-width:none}
.top{padding:0 0 .8rem}.hero{padding:1rem 1.4rem;gap:2.5rem;border-radius:12px;grid-template-columns:minmax(0,1.15fr) minmax(0,1fr)}
h1{font-size:1.5rem}h1,.hero p{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:4;overflow:hidden}.hero .score{display:flex;overflow:visible}
.eyebrow{margin-bottom:.1rem}
.score{margin:.6rem 0 .7rem}.score b{font-size:3.6rem}.score>span{display:grid;justify-items:start;gap:.45rem;line-height:1;min-width:0}
.score b.long{font-size:2.2rem}
.receipt div{padding:.28rem 0}.part{margin-top:1.3rem;break-inside:avoid}h2{font-size:1.1rem}.part>p{max-width:none;margin-top:.15rem}
.hero p+.small{margin-top:.4rem}
.drivers{margin-top:.3rem;display:grid;grid-template-columns:minmax(0,24rem) minmax(0,1fr) auto;column-gap:1.4rem}.drivers li{display:grid;gap:0;column-gap:inherit;padding:.22rem 0}.drivers .bar{order:0;height:.75rem;overflow:visible}.drivers .axis{display:grid;padding:.1rem 0}.drivers .axis .bar{height:1.25rem}
.drivers .what{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}.drivers .what span{display:inline;margin:0 0 0 .5rem}
.sum b{min-width:3.2rem}
.more{margin-top:.4rem}
.course{margin-top:.7rem}.plot{height:5.5rem}details,.foot .screen{display:none}
.pair{display:block}.pair .part+.part{margin-top:1.1rem}.weights{margin-top:.5rem;gap:.35rem}.weights li{padding:.1rem .6rem;display:flex;max-width:32%;white-space:nowrap}.weights bdi{overflow:hidden;text-overflow:ellipsis}.weights.changes li{max-width:100%;justify-content:space-between;gap:1rem}.weights.changes li+li{margin-top:.15rem}
.foot{margin-top:1.2rem;padding:.6rem 0 0}
}
`;
