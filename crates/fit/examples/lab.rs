use std::collections::{BTreeMap, BTreeSet};
use fit::{assets, parameters::Model, rows::read_rows, setting::{Setting, setting}, solve::{Linear, fit, for_all}};

pub fn median(v: &mut Vec<f64>) -> f64 { v.sort_by(f64::total_cmp); if v.is_empty() { f64::NAN } else { v[(v.len()-1)/2] } }
pub fn p90(v: &mut Vec<f64>) -> f64 { v.sort_by(f64::total_cmp); if v.is_empty() { f64::NAN } else { v[((v.len() as f64*0.9).ceil() as usize).max(1)-1] } }

struct Out { ttft: f64, tpot: f64, e2e: f64 }
fn predict(model: &Model, s: &Setting, logs: &[f64]) -> Out {
    let k = model.kernel(s, logs).unwrap();
    let l = Linear::of(s, &k);
    let r = l.run();
    let ttft = if s.is_ttft_median { r.ttft_median_s } else { r.ttft_mean_s };
    let e2e = if s.is_e2e_derived { ttft + (s.osl-1.0)*r.tpot_mean_s } else { r.e2e_mean_s };
    Out { ttft, tpot: r.tpot_mean_s, e2e }
}
fn table(name: &str, rows: &[(&Setting, Out)], pick: impl Fn(&Setting)->bool) {
    let e = |p: f64, m: f64| 100.0*(p/m-1.0).abs();
    let sel: Vec<_> = rows.iter().filter(|(s,_)| pick(s)).collect();
    if sel.is_empty() { return; }
    let mut t: Vec<f64> = sel.iter().filter(|(s,_)| s.ttft_weight>0.0).filter_map(|(s,o)| s.ttft_s.map(|m| e(o.ttft,m))).collect();
    let mut d: Vec<f64> = sel.iter().map(|(s,o)| e(o.tpot,s.tpot_s)).collect();
    let mut x: Vec<f64> = sel.iter().filter_map(|(s,o)| s.e2e_s.map(|m| e(o.e2e,m))).collect();
    let mut b: Vec<f64> = sel.iter().map(|(s,o)| 100.0*(o.tpot/s.tpot_s-1.0)).collect();
    let mut bt: Vec<f64> = sel.iter().filter_map(|(s,o)| s.ttft_s.map(|m| 100.0*(o.ttft/m-1.0))).collect();
    println!("{name:58} n={:4} TTFT {:5.1}/{:6.1} TPOT {:5.1}/{:5.1} E2E {:5.1}/{:5.1}  bias tpot {:+.0} ttft {:+.0}", sel.len(), median(&mut t), p90(&mut t), median(&mut d), p90(&mut d), median(&mut x), p90(&mut x), median(&mut b), median(&mut bt));
}
fn report(rows: &[(&Setting, Out)], groups: bool) {
    let gated = |s: &Setting| s.counts && s.generation>=9;
    table("all", rows, gated);
    table("all <80%", rows, |s| gated(s) && s.utilisation<0.8);
    table("dense <80%", rows, |s| gated(s) && s.utilisation<0.8 && !s.has_experts);
    table("moe <80%", rows, |s| gated(s) && s.utilisation<0.8 && s.has_experts);
    for e in 0..3 { for m in [false,true] { table(&format!("engine {e} moe {m} <80%"), rows, |s| gated(s)&& s.engine as usize==e && s.has_experts==m && s.utilisation<0.8); } }
    table("not counted", rows, |s| !s.counts);
    if groups {
        let gs: BTreeSet<_> = rows.iter().map(|(s,_)| s.group.clone()).collect();
        for g in gs { table(&g, rows, |s| s.group==g); }
    }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mode = args.get(1).map(String::as_str).unwrap_or("published");
    let rows = read_rows(std::fs::File::open("/work/shared/reference/measured/serving.csv").unwrap()).unwrap();
    let gpus = assets::gpus();
    let mut why: BTreeMap<&str, usize> = BTreeMap::new();
    let mut settings = Vec::new();
    let mut seen = BTreeSet::new();
    for r in &rows { match setting(r, &gpus) { Ok(s) => {
        let key = format!("{}|{}|{}|{:?}|{}", s.curve, s.load, s.isl, s.ttft_s, s.tpot_s);
        if seen.insert(key) { settings.push(s) } else { *why.entry("duplicate").or_default() += 1; } }, Err(e) => {*why.entry(e).or_default()+=1;} } }
    println!("{why:?}");
    let mut max: BTreeMap<String,f64> = BTreeMap::new();
    for s in &settings { let m = max.entry(s.curve.clone()).or_insert(0.0); if s.output_per_s>*m { *m=s.output_per_s; } }
    for s in &mut settings { s.utilisation = s.output_per_s/max[&s.curve]; }
    println!("{} rows, {} counted, {} counted <80%, {} groups {} families", settings.len(), settings.iter().filter(|s| s.counts).count(), settings.iter().filter(|s| s.counts&&s.utilisation<0.8).count(), settings.iter().map(|s| s.group.clone()).collect::<BTreeSet<_>>().len(), settings.iter().map(|s| s.family.clone()).collect::<BTreeSet<_>>().len());
    let mut sizes: BTreeMap<String,usize> = BTreeMap::new();
    for s in &settings { *sizes.entry(s.group.clone()).or_default()+=1; }
    let wp: f64 = std::env::var("WP").ok().and_then(|x| x.parse().ok()).unwrap_or(0.5);
    let weight = |s: &Setting| s.weight/(sizes[&s.group] as f64).powf(wp);
    let fam = |s: &Setting| -> String { if mode.contains("family") { s.family.clone() } else { s.group.clone() } };
    let options = std::env::var("OPT").unwrap_or_default();
    let model = Model::new(&settings.iter().filter(|s| s.is_fitted).cloned().collect::<Vec<_>>(), &options);
    for s in &mut settings { model.bind(s); }
    println!("{} constants; options {options}", model.parameters.len());
    let t0 = std::time::Instant::now();
    let all: Vec<(&Setting,f64)> = settings.iter().filter(|s| s.is_fitted).map(|s| (s, weight(s))).collect();
    if mode.starts_with("full") {
        let logs = fit(&model, &all, &model.start(), 5);
        println!("fit {:?}", t0.elapsed());
        for (p,l) in model.parameters.iter().zip(&logs) { println!("{:30} {:.4e}", p.name, l.exp()); }
        let outs = for_all(&settings, |s| predict(&model, s, &logs));
        let rows: Vec<_> = settings.iter().zip(outs).collect();
        report(&rows, true);
        if args.len()>2 { for (s,o) in &rows { if s.group.contains(&args[2]) { println!("{} load {} isl {} osl {:.0} util {:.2} ttft {:.1} / {:.1}  tpot {:.2} / {:.2}  {}", s.group, s.load, s.isl, s.osl, s.utilisation, o.ttft*1e3, s.ttft_s.unwrap_or(0.0)*1e3, o.tpot*1e3, s.tpot_s*1e3, s.curve); } } }
        return;
    }
    if mode.starts_with("quick") {
        let full = fit(&model, &all, &model.start(), 4);
        for (p,l) in model.parameters.iter().zip(&full) { if !p.name.contains("|") || args.len()>3 { print!("{} {:.3e}; ", p.name, l.exp()); } } println!();
        let linears: Vec<Option<Linear>> = for_all(&all, |(s,_)| model.kernel(s,&full).ok().map(|k| Linear::of(s,&k)));
        println!("fit {:?} pieces {}", t0.elapsed(), linears.iter().flatten().map(|l| l.run().pieces.len()).sum::<usize>());
        let keys: BTreeSet<String> = settings.iter().filter(|s| s.counts).map(|s| fam(s)).collect();
        let mut outs = Vec::new();
        for key in &keys {
            let kept: Vec<usize> = (0..all.len()).filter(|&i| fam(all[i].0)!=*key).collect();
            let ks: Vec<_> = kept.iter().map(|&i| all[i]).collect();
            let ls: Vec<_> = kept.iter().map(|&i| linears[i].clone()).collect();
            let logs = fit::solve::descend(&model, &ks, &ls, &full, 3);
            let held: Vec<&Setting> = settings.iter().filter(|s| fam(s)==*key).collect();
            let o = for_all(&held, |s| predict(&model, s, &logs));
            outs.extend(held.into_iter().zip(o));
        }
        println!("quick cv {:?} over {} groups", t0.elapsed(), keys.len());
        let ins = for_all(&settings, |s| predict(&model, s, &full));
        let rows: Vec<_> = settings.iter().zip(ins).collect();
        println!("in sample"); report(&rows, false);
        println!("left out"); report(&outs, args.len()>2);
        if args.len()>2 { for (s,o) in &outs { if s.group.contains(&args[2]) { println!("{} load {} isl {} osl {:.0} util {:.2} ttft {:.1} / {:.1}  tpot {:.2} / {:.2}  {}", s.group, s.load, s.isl, s.osl, s.utilisation, o.ttft*1e3, s.ttft_s.unwrap_or(0.0)*1e3, o.tpot*1e3, s.tpot_s*1e3, s.curve); } } }
        return;
    }
    let keys: BTreeSet<String> = settings.iter().filter(|s| s.counts).map(|s| fam(s)).collect();
    let mut outs = Vec::new();
    for key in &keys {
        let kept: Vec<(&Setting,f64)> = all.iter().copied().filter(|(s,_)| fam(s)!=*key).collect();
        let logs = fit(&model, &kept, &model.start(), 4);
        let held: Vec<&Setting> = settings.iter().filter(|s| fam(s)==*key).collect();
        let o = for_all(&held, |s| predict(&model, s, &logs));
        outs.extend(held.into_iter().zip(o));
    }
    println!("cv {:?} over {} groups", t0.elapsed(), keys.len());
    report(&outs, true);
}
