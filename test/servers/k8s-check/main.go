// Command k8s-check does with the objects of a manifest what Kubernetes's API server does with objects that are to be created, with the server's own
// code: it decodes them strictly (an unknown field or a field given twice is an error), sets defaults, and validates them. Pods must also meet the pod
// security standard "restricted". It reads YAML documents from standard input and prints {"KIND/NAME": [problem, …]}.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	batchvalidation "k8s.io/kubernetes/pkg/apis/batch/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corev1conversion "k8s.io/kubernetes/pkg/apis/core/v1"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

func main() {
	log.SetFlags(0)
	problems := map[string][]string{}
	reader := yaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		name, found := check(document)
		problems[name] = append([]string{}, found...)
	}
	text, err := json.Marshal(problems)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
}

// check names the object of a document and says what the API server would refuse it for.
func check(document []byte) (string, []string) {
	scheme := legacyscheme.Scheme
	strict := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme, scheme, serializer.SerializerOptions{Yaml: true, Strict: true})
	versioned, kind, err := strict.Decode(document, nil, nil)
	if err != nil && !runtime.IsStrictDecodingError(err) {
		return "?", []string{err.Error()}
	}
	var problems []string
	if err != nil {
		problems = append(problems, err.Error())
	}
	object, err := meta.Accessor(versioned)
	if err != nil {
		return "?", append(problems, err.Error())
	}
	name := kind.Kind + "/" + object.GetName()
	if object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
	scheme.Default(versioned)
	internal, err := scheme.ConvertToVersion(versioned, runtime.InternalGroupVersioner)
	if err != nil {
		return name, append(problems, err.Error())
	}
	for _, one := range validate(internal) {
		problems = append(problems, one.Error())
	}
	return name, problems
}

func validate(object runtime.Object) field.ErrorList {
	switch it := object.(type) {
	case *core.ConfigMap:
		return corevalidation.ValidateConfigMap(it)
	case *core.Secret:
		return corevalidation.ValidateSecret(it)
	case *core.Service:
		// As the server does before it validates.
		if it.Spec.ClusterIP != "" && len(it.Spec.ClusterIPs) == 0 {
			it.Spec.ClusterIPs = []string{it.Spec.ClusterIP}
		}
		return corevalidation.ValidateServiceCreate(it)
	case *apps.Deployment:
		options := pod.GetValidationOptionsFromPodTemplate(&it.Spec.Template, nil)
		return append(appsvalidation.ValidateDeployment(it, options), restricted(&it.Spec.Template)...)
	case *batch.Job:
		generateSelector(it)
		options := batchvalidation.JobValidationOptions{
			PodValidationOptions:  pod.GetValidationOptionsFromPodTemplate(&it.Spec.Template, nil),
			RequirePrefixedLabels: true,
		}
		return append(batchvalidation.ValidateJobCreate(it, options), restricted(&it.Spec.Template)...)
	}
	return field.ErrorList{field.InternalError(nil, fmt.Errorf("%T is not known here", object))}
}

// generateSelector ties a Job to its pods, as the server does before it validates.
func generateSelector(job *batch.Job) {
	job.UID = "0"
	selector := map[string]string{batch.ControllerUidLabel: string(job.UID)}
	labels := map[string]string{batch.JobNameLabel: job.Name, "job-name": job.Name, "controller-uid": string(job.UID)}
	for key, value := range job.Spec.Template.Labels {
		labels[key] = value
	}
	labels[batch.ControllerUidLabel] = string(job.UID)
	job.Spec.Template.Labels = labels
	job.Spec.Selector = &metav1.LabelSelector{MatchLabels: selector}
}

// restricted says what keeps a pod from namespaces with the standard "restricted".
func restricted(template *core.PodTemplateSpec) field.ErrorList {
	var versioned corev1.PodTemplateSpec
	path := field.NewPath("spec", "template")
	if err := corev1conversion.Convert_core_PodTemplateSpec_To_v1_PodTemplateSpec(template, &versioned, nil); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	standard := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	var problems field.ErrorList
	for _, result := range evaluator.EvaluatePod(standard, &versioned.ObjectMeta, &versioned.Spec) {
		if !result.Allowed {
			problems = append(problems, field.Forbidden(path, result.ForbiddenReason+": "+result.ForbiddenDetail))
		}
	}
	return problems
}
