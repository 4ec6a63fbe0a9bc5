//! Which instructions a kernel is made of.

use core::fmt;

/// The variable that forces a form.
#[cfg(feature = "std")]
const VARIABLE: &str = "TIEBREAK_SIMD";

/// The instructions that a kernel is made of, the widest of each architecture last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// None that not every CPU has.
    Scalar,
    /// SSSE3 and POPCNT: 16 bytes of x86-64.
    Ssse3,
    /// AVX2, BMI1, LZCNT and POPCNT: 32 bytes of x86-64.
    Avx2,
    /// AVX-512 F, BW, IFMA, VBMI and VBMI2, BMI1, BMI2, LZCNT and POPCNT, as Ice Lake and Zen 4
    /// have them: 64 bytes of x86-64.
    Avx512,
    /// NEON: 16 bytes of AArch64.
    Neon,
}

impl Form {
    /// All forms.
    pub const ALL: [Form; 5] = [Form::Scalar, Form::Ssse3, Form::Avx2, Form::Avx512, Form::Neon];

    /// Returns the name, as `TIEBREAK_SIMD` has it.
    pub const fn name(self) -> &'static str {
        match self {
            Form::Scalar => "scalar",
            Form::Ssse3 => "ssse3",
            Form::Avx2 => "avx2",
            Form::Avx512 => "avx512",
            Form::Neon => "neon",
        }
    }

    /// Returns whether this CPU has the instructions.
    pub fn is_here(self) -> bool {
        /// Whether this CPU has a feature; without `std`, whether the build takes it for granted.
        #[cfg(target_arch = "x86_64")]
        macro_rules! has {
            ($($feature:tt),*) => {{
                #[cfg(feature = "std")]
                { true $(&& std::is_x86_feature_detected!($feature))* }
                #[cfg(not(feature = "std"))]
                { true $(&& cfg!(target_feature = $feature))* }
            }};
        }
        match self {
            Form::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Form::Ssse3 => has!("ssse3", "popcnt"),
            #[cfg(target_arch = "x86_64")]
            Form::Avx2 => has!("avx2", "bmi1", "lzcnt", "popcnt"),
            #[cfg(target_arch = "x86_64")]
            Form::Avx512 => has!(
                "avx512f",
                "avx512bw",
                "avx512ifma",
                "avx512vbmi",
                "avx512vbmi2",
                "bmi1",
                "bmi2",
                "lzcnt",
                "popcnt"
            ),
            #[cfg(target_arch = "aarch64")]
            Form::Neon => true,
            _ => false,
        }
    }

    /// Returns the forms that this CPU has, the widest last.
    pub fn here() -> impl Iterator<Item = Form> {
        Form::ALL.into_iter().filter(|form| form.is_here())
    }

    /// Returns the widest form that this CPU has.
    pub fn widest() -> Form {
        Form::here().last().unwrap_or(Form::Scalar)
    }

    /// Returns the form that `TIEBREAK_SIMD` names; if it is not set, the widest that is here.
    ///
    /// # Errors
    /// Fails if the variable names no form, or one that this CPU does not have.
    pub fn chosen() -> Result<Form, Refused> {
        #[cfg(feature = "std")]
        if let Some(name) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()) {
            return Form::named(&name.to_string_lossy());
        }
        Ok(Form::widest())
    }

    /// Returns the form of this name.
    ///
    /// # Errors
    /// Fails if there is none, or if this CPU does not have it.
    pub fn named(name: &str) -> Result<Form, Refused> {
        let form = Form::ALL.into_iter().find(|form| form.name() == name);
        let form = form.ok_or(Refused::Unknown)?;
        if form.is_here() { Ok(form) } else { Err(Refused::Missing(form)) }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a form is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No form has this name.
    Unknown,
    /// This CPU does not have the instructions of the form.
    Missing(Form),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Unknown => f.write_str("no form of a kernel has this name; this CPU has")?,
            Refused::Missing(form) => write!(f, "this CPU does not have {form}; it has")?,
        }
        Form::here()
            .enumerate()
            .try_for_each(|(at, form)| write!(f, "{} {form}", if at == 0 { "" } else { "," }))
    }
}

impl core::error::Error for Refused {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_found_by_its_name() {
        for form in Form::ALL {
            let expected = if form.is_here() { Ok(form) } else { Err(Refused::Missing(form)) };
            assert_eq!(Form::named(form.name()), expected);
        }
        assert_eq!(Form::named("avx3"), Err(Refused::Unknown));
        assert_eq!(Form::widest(), Form::here().last().unwrap());
    }

    #[test]
    fn what_is_refused_is_named_with_what_is_here() {
        let said = Refused::Missing(Form::Avx512).to_string();
        assert!(said.starts_with("this CPU does not have avx512; it has scalar"), "{said}");
        let unknown = Refused::Unknown.to_string();
        let expected = "no form of a kernel has this name; this CPU has scalar";
        assert!(unknown.starts_with(expected), "{unknown}");
    }
}
